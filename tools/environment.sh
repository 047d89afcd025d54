#!/bin/sh
# Makes .venv and installs the pinned packages of one lock file, then the package and the studies beside it.
# usage: tools/environment.sh PYTHON core|quick|dev
set -eu
python=$1
lock=$2
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    echo "safeside needs Python 3.11 or newer; '$python' is older or missing." >&2
    echo "What to do: run make PYTHON=/path/to/python3.11 (or newer)." >&2
    exit 2
fi
if [ ! -x .venv/bin/python ]; then
    echo "Making an environment in .venv ..."
    "$python" -m venv .venv || {
        echo "What to do: install the venv module (on Debian: apt-get install python3-venv) and run make again." >&2
        exit 2
    }
fi
echo "Installing the packages of requirements/$lock.txt (a minute or two the first time) ..."
.venv/bin/python -m pip --disable-pip-version-check --quiet install --require-hashes -r "requirements/$lock.txt"
.venv/bin/python -m pip --disable-pip-version-check --quiet install --no-deps --no-build-isolation \
    --editable . --editable ./src
