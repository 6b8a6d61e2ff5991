// Sorts tables by the column whose heading is pressed; bars show that column where it has numbers.
const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => (document.documentElement.dataset.theme = dark.matches ? "dark" : "light");
dark.addEventListener("change", dress);
dress();

const value = (row, k) => row.cells[k].dataset.value;

/** The order of two cells: by number where they have one, empty ones last. */
function order(a, b, k, sign) {
  const [x, y] = [value(a, k), value(b, k)];
  if (x === undefined) return y === undefined ? 0 : 1;
  if (y === undefined) return -1;
  return sign * (Number.isFinite(Number(x)) ? x - y : x.localeCompare(y));
}

function sort(table, heading) {
  const k = heading.cellIndex;
  const falls = heading.ariaSort === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.ariaSort = falls ? "descending" : "ascending";
  const body = table.tBodies[0];
  const rows = [...body.rows];
  body.append(...rows.sort((a, b) => order(a, b, k, falls ? -1 : 1)));
  const numbers = rows.map((row) => Number(value(row, k) ?? 0));
  if (table.querySelector(".bar") === null || !numbers.every(Number.isFinite)) return;
  const most = Math.max(...numbers) || 1;
  rows.forEach((row, i) => row.querySelector("rect").setAttribute("width", (100 * numbers[i]) / most));
  table.querySelector("thead .bar").textContent = heading.textContent;
}

for (const table of document.querySelectorAll("table")) {
  for (const heading of table.tHead.rows[0].cells) {
    heading.querySelector("button")?.addEventListener("click", () => sort(table, heading));
  }
}
