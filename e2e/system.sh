#!/usr/bin/env bash
# Makes sure that the system has what the tests need, installing it where that
# is allowed. What is missing is said in one line; nothing is skipped.
set -euo pipefail

missing=()
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing+=(postgresql)
command -v chromium >/dev/null 2>&1 || missing+=(chromium)
command -v mariadbd >/dev/null 2>&1 || missing+=(mariadb-server)
python3 -c "import venv, ensurepip" >/dev/null 2>&1 || missing+=(python3-venv)
command -v strace >/dev/null 2>&1 || missing+=(strace)
command -v setpriv >/dev/null 2>&1 || missing+=(util-linux)
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q >/dev/null
  apt-get install -q -y --no-install-recommends "${missing[@]}" >/dev/null
else
  echo "The tests need: ${missing[*]}. Install them, on Debian with: sudo apt-get install ${missing[*]}" >&2
  exit 1
fi
