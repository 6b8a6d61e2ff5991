"""One file an algorithm, one function a quantity; ``catalogue`` lists them all."""
