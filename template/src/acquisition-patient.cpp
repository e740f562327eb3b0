// acquisition patient, in C++17: a lower confidence bound that explores less as the budget is spent. Its kappa falls
// linearly from the parameter to zero.
//
// A plugin in C++ is like one in C, with two differences: structs are filled by constant expressions in place of
// designated initialisers, and no exception may leave a function that the host calls. To write one:
//   1. copy this file to src/KIND-NAME.cpp, and put its two lines into Makefile.am;
//   2. write the operations of the kind (acquisition.h) as static functions;
//   3. keep ops and descriptor `constexpr`: nothing may run when a plugin is loaded.
#include <tutti/plugin.h>

namespace {

struct patient_config {
  double kappa;
};

constexpr tutti_param patient_params[] = {
    TUTTI_REAL(patient_config, kappa, "1.96", 0, TUTTI_NO_LIMIT,
               "Standard deviations below the mean at the beginning."),
};

tutti_status acquisition_moments_patient(void *self, tutti_context *, const tutti_standing *standing, size_t count,
                                         const double *mean, const double *deviation, double *worth, double *by_mean,
                                         double *by_deviation) {
  const double spent =
      standing->step < standing->steps ? static_cast<double>(standing->step) / static_cast<double>(standing->steps) : 1;
  const double kappa = static_cast<const patient_config *>(self)->kappa * (1 - spent);
  for (size_t i = 0; i < count; i++) {
    worth[i] = kappa * deviation[i] - mean[i];
    if (by_mean)
      by_mean[i] = -1;
    if (by_deviation)
      by_deviation[i] = kappa;
  }
  return TUTTI_OK;
}

bool acquisition_rises_patient(void *) { return true; }

constexpr tutti_acquisition_ops patient_ops = [] {
  tutti_acquisition_ops made{};
  made.size = sizeof made;
  made.moments = acquisition_moments_patient;
  made.rises = acquisition_rises_patient;
  return made;
}();

constexpr tutti_descriptor patient_descriptor = [] {
  tutti_descriptor made = tutti_descriptor_of(TUTTI_KIND_ACQUISITION, "patient");
  made.version = "1.0";
  made.summary = "a lower confidence bound that explores less as the budget is spent";
  made.source = "";
  made.licence = "Apache-2.0";
  made.params = TUTTI_PARAMS(patient_params, patient_config);
  made.ops = &patient_ops;
  return made;
}();

} // namespace

TUTTI_PLUGIN(patient_descriptor)
