// The compiled module onlinesvm._core: the families, and what their faces share.
#if defined(__unix__) || defined(__APPLE__)
#define ONLINESVM_FORKS
#endif
#ifdef ONLINESVM_FORKS
#include <pthread.h>
#endif

#include "arrays.hpp"
#include "key_list.hpp"
#include "module.hpp"
#include "onlinesvm/loops/isa.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace nb = nanobind;
using namespace onlinesvm;

NB_MODULE(_core, m) {
    m.doc() = "The compiled core of onlinesvm.";
#ifdef NDEBUG
    nb::set_leak_warnings(false);  // a forked child ends without the frames of its parent's threads
#endif

    bind::bind_models(m);
    bind::bind_banks(m);

    m.def(
        "all_finite",
        [](const nb::ndarray<nb::ro, nb::any_contig, nb::device::cpu>& array) {
            return bind::all_finite(array);
        },
        nb::arg("array"), "Whether no value is NaN or infinite.");
    m.def(
        "are_plain_keys",
        [](const nb::list& keys) {
            for (const nb::handle key :
                 keys)  // what others write as bytes could be read as a tuple
                if (PyBytes_Check(key.ptr())) return false;
            try {
                return bind::KeyList(keys), true;
            } catch (const nb::builtin_exception&) {
                return false;
            }
        },
        nb::arg("keys"), "Whether a bank takes all of them as they are.");
    bind::bind_curves(m);
    bind::bind_path(m);
    bind::bind_register(m);
    const nb::object main_thread = nb::module_::import_("threading").attr("main_thread")();
    bind::Signals::main_thread_is(nb::cast<unsigned long>(main_thread.attr("ident")));
#ifdef ONLINESVM_FORKS
    pthread_atfork(bind::Locks::before_fork, bind::Locks::in_parent, [] {
        bind::Locks::in_child();
        bind::Signals::main_thread_is(PyThread_get_thread_ident());
    });
#endif
    m.def("interrupt_after", &bind::Signals::interrupt_after, nb::arg("polls"),
          "Lets Ctrl-C come at that poll of the calls to come, 0: never; says how many were left.");
    m.attr("isa") = isa::name();
#ifdef __clang__
    m.attr("compiler") = __VERSION__;
#else
    m.attr("compiler") = "GCC " __VERSION__;
#endif
}
