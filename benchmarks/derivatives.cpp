// Pinocchio's derivatives, and armdyn's kernels, called in a loop from C++: the least time a call.
#include <algorithm>
#include <chrono>
#include <string>

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>

namespace pin = pinocchio;
using Clock = std::chrono::steady_clock;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Function> double least(Function function, int calls, int rounds) {
  double best = 1e9;
  for (int r = 0; r < rounds; ++r) {
    auto begin = Clock::now();
    for (int k = 0; k < calls; ++k) function();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count() / calls);
  }
  return best;
}

extern "C" {

// place: (n, 3, 4) each joint's frame in the one before; body: (n, 10) mass, centre, tensor about it
void *make_model(int n, const char *kinds, const double *place, const double *body,
                 const double *gravity) {
  pin::Model *model = new pin::Model;
  pin::JointIndex parent = 0;
  for (int i = 0; i < n; ++i) {
    Eigen::Map<const Eigen::Matrix<double, 3, 4, Eigen::RowMajor>> T(place + 12 * i);
    pin::SE3 M(Eigen::Matrix3d(T.leftCols<3>()), Eigen::Vector3d(T.col(3)));
    std::string name = "joint" + std::to_string(i);
    if (kinds[i] == 'R') parent = model->addJoint(parent, pin::JointModelRZ(), M, name);
    else parent = model->addJoint(parent, pin::JointModelPZ(), M, name);
    const double *b = body + 10 * i;
    Eigen::Matrix3d I;
    I << b[4], b[5], b[7], b[5], b[6], b[8], b[7], b[8], b[9];
    pin::Inertia inertia(b[0], Eigen::Vector3d(b[1], b[2], b[3]), I);
    model->appendBodyToJoint(parent, inertia, pin::SE3::Identity());
  }
  model->gravity.linear() = Eigen::Vector3d(gravity[0], gravity[1], gravity[2]);
  return model;
}

double time_pinocchio(void *given, int forward, const double *state, int calls, int rounds,
                      double *by_q) {
  const pin::Model &model = *static_cast<pin::Model *>(given);
  pin::Data data(model);
  Eigen::VectorXd q = Eigen::Map<const Eigen::VectorXd>(state, model.nv);
  Eigen::VectorXd qd = Eigen::Map<const Eigen::VectorXd>(state + model.nv, model.nv);
  Eigen::VectorXd last = Eigen::Map<const Eigen::VectorXd>(state + 2 * model.nv, model.nv);
  double time = forward
      ? least([&] { pin::computeABADerivatives(model, data, q, qd, last); }, calls, rounds)
      : least([&] { pin::computeRNEADerivatives(model, data, q, qd, last); }, calls, rounds);
  Eigen::Map<Rows>(by_q, model.nv, model.nv) = forward ? data.ddq_dq : data.dtau_dq;
  return time;
}

double time_kernel(void (*kernel)(void *, void *), void *read, void *written, int calls,
                   int rounds) {
  return least([&] { kernel(read, written); }, calls, rounds);
}

}
