#!/bin/sh
# The real components the tests use and PyPI does not have: Java for Spark, PostgreSQL, Chromium.
set -eu
missing=
command -v java >/dev/null 2>&1 || missing="$missing openjdk-17-jre-headless"
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$missing postgresql"
command -v chromium >/dev/null 2>&1 || missing="$missing chromium"
[ -z "$missing" ] && exit 0

echo "Installing Debian packages:$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "The tests need$missing, and you are neither root nor have sudo." >&2
    echo "What to do: have them installed, then run make test again." >&2
    exit 2
fi
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of names
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
