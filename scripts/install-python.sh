#!/usr/bin/env bash
# Installs the Python package, with the library beside it, and says where it is.
#   install-python.sh BUILD PYTHON [PREFIX]    without PREFIX for the present user, or environment; DESTDIR is honoured
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=$1 python=$2 prefix=${3:-}

# Where this Python looks below PREFIX, where it does; for the user his own folder, or that of the environment.
folder=$("$python" - "$prefix" <<'PYTHON'
import os, site, sys, sysconfig
prefix = sys.argv[1]
if prefix:
    below = [path for path in site.getsitepackages() if path.startswith(os.path.join(prefix, "lib") + os.sep)]
    print(below[0] if below else os.path.join(prefix, "lib", "python3", "site-packages"))
elif sys.prefix != sys.base_prefix:
    print(sysconfig.get_path("purelib"))
else:
    print(site.getusersitepackages())
PYTHON
)
to=${DESTDIR:-}$folder/sbps
if [ -e "$to" ] && ! [ -f "$to/_library.py" ]; then
    echo "install-python: $to is another package: it stays as it is" >&2
    exit 1
fi
rm -rf "$to"
mkdir -p "$to"
install -m 644 "$root"/bindings/python/sbps/*.py "$root/bindings/python/sbps/py.typed" "$to"
install -m 755 "$build/libsbps.so.0" "$to"
echo "the Python package is in $to"
if [ -z "${DESTDIR:-}" ] && ! (cd / && "$python" -c 'import sys; sys.exit(sys.argv[1] not in sys.path)' "$folder"); then
    echo "$python does not look there by itself: PYTHONPATH=$folder"
fi
