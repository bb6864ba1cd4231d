#!/usr/bin/env bash
# Runs a command with a MariaDB of its own: a new data folder in a temporary
# directory, on a free port of loopback, as an unprivileged user, gone when the
# command has ended. The command finds it by DOGEAR_TEST_MYSQL.
set -euo pipefail

command -v mariadbd >/dev/null 2>&1 || { echo "MariaDB is missing: apt-get install mariadb-server" >&2; exit 1; }

dir=$(mktemp -d /tmp/dogear-mariadb.XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then # MariaDB refuses to run as root
  id mysql >/dev/null 2>&1 || useradd --system mysql
  chown mysql "$dir"
  as=(setpriv --reuid=mysql --regid="$(id -g mysql)" --clear-groups)
fi
pid=
stop() {
  if [ -n "$pid" ]; then
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  fi
  rm -rf "$dir"
}
trap stop EXIT

go -C "$(dirname "$0")/.." run ./e2e/certificate "$dir"
[ "$(id -u)" != 0 ] || chown mysql "$dir"/*.crt "$dir"/*.key
"${as[@]}" mariadb-install-db --no-defaults --datadir="$dir/data" --auth-root-authentication-method=normal --skip-test-db >"$dir/install" 2>&1 \
  || { cat "$dir/install" >&2; exit 1; }
# Asked for last: until it is taken, somebody else may get it.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# Tests may lose this server at any time; its own durability is not what they test.
"${as[@]}" mariadbd --no-defaults --datadir="$dir/data" --socket="$dir/socket" --pid-file="$dir/pid" --port="$port" \
  --bind-address=127.0.0.1 --character-set-server=utf8mb4 --innodb-flush-log-at-trx-commit=0 \
  --ssl-ca="$dir/ca.crt" --ssl-cert="$dir/server.crt" --ssl-key="$dir/server.key" >"$dir/log" 2>&1 &
pid=$!
for _ in $(seq 300); do
  mariadb --no-defaults --socket="$dir/socket" -u root -e "SELECT 1" >/dev/null 2>&1 && break
  kill -0 "$pid" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
  sleep 0.1
done
mariadb --no-defaults --socket="$dir/socket" -u root -e "CREATE USER dogear@'127.0.0.1' IDENTIFIED BY 'hush-hush'; CREATE USER dogear@localhost IDENTIFIED BY 'hush-hush'; GRANT ALL ON *.* TO dogear@'127.0.0.1'; GRANT ALL ON *.* TO dogear@localhost; CREATE USER keeper@'127.0.0.1' IDENTIFIED BY 'hush-hush' REQUIRE SSL; CREATE USER keeper@localhost IDENTIFIED BY 'hush-hush' REQUIRE SSL" \
  || { cat "$dir/log" >&2; exit 1; }

export DOGEAR_TEST_MYSQL_CA="$dir/ca.crt"
export DOGEAR_TEST_MYSQL="mysql://dogear:hush-hush@127.0.0.1:$port/"
"$@"
