#!/bin/sh
# Is everything here that a build starts from? One line for each thing that is missing, with what to install.
#
#   tools/doctor.sh [PYTHON]               Python >= 3.11, its headers, venv, a C++20 compiler
#   tools/doctor.sh [PYTHON] sanitizers    besides, what the C++ tests are linked with

python=${1:-python3}
healthy=true

missing() { # what, Debian, Fedora, macOS
    echo "missing: $1. Debian, Ubuntu: $2 | Fedora: $3 | macOS: $4" >&2
    healthy=false
}

look_into_python='
import importlib, os, sys, sysconfig
def there(name):
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
found = {"old": sys.version_info < (3, 11), "headers": not os.path.isfile(header)}
found["venv"] = not (there("venv") and there("ensurepip"))
print("%d.%d" % sys.version_info[:2] + "".join(" " + word for word in sorted(found) if found[word]))
'

check_python() {
    if ! found=$("$python" -c "$look_into_python" 2>/dev/null); then
        missing "Python >= 3.11 (\"$python\" does not run)" "apt install python3 python3-dev python3-venv" \
            "dnf install python3 python3-devel" "brew install python"
        return
    fi
    version=${found%% *}
    case " $found " in *" old "*)
        missing "Python >= 3.11 (\"$python\" is $version; another is taken by make PYTHON=/path/to/it)" \
            "apt install python3.11 python3.11-dev python3.11-venv" "dnf install python3.11 python3.11-devel" \
            "brew install python"
        return ;;
    esac
    case " $found " in *" headers "*)
        missing "the headers of Python $version (Python.h)" "apt install python$version-dev" \
            "dnf install python3-devel" "brew install python" ;;
    esac
    case " $found " in *" venv "*)
        missing "venv and ensurepip of Python $version" "apt install python$version-venv" \
            "dnf install python3" "brew install python" ;;
    esac
}

# The compiler that CMake will take: CXX where it is set, else the first of the usual names.
find_compiler() {
    compiler=${CXX:-}
    for name in c++ g++ clang++; do
        [ -n "$compiler" ] && return
        command -v "$name" >/dev/null 2>&1 && compiler=$name
    done
}

compiles() {
    printf '%s\n' '#include <concepts>' '#include <span>' \
        'template <std::integral T> T one(std::span<T> x) { return x[0]; }' \
        'int main() { int x[1] = {0}; return one(std::span<int>(x)); }' |
        $compiler -std=c++20 -x c++ - "$@" >/dev/null 2>&1
}

check_compiler() {
    find_compiler
    if [ -z "$compiler" ] || ! compiles -fsyntax-only; then
        missing "a C++20 compiler (${compiler:-none was found}${compiler:+ is not one})" "apt install g++" \
            "dnf install gcc-c++" "xcode-select --install"
    elif [ "${2:-}" = sanitizers ]; then
        program=$(mktemp)
        compiles -fsanitize=address,undefined -o "$program" ||
            missing "the sanitizers of $compiler, for the C++ tests" "apt install g++" \
                "dnf install libasan libubsan" "xcode-select --install"
        rm -f "$program"
    fi
}

check_python
check_compiler "$@"
$healthy
