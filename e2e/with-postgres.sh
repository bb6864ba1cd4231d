#!/usr/bin/env bash
# Runs a command with a PostgreSQL of its own: a new cluster in a temporary
# directory, on a free port of loopback, as an unprivileged user, gone when the
# command has ended. The command finds it by DOGEAR_TEST_POSTGRES.
set -euo pipefail

bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] || { echo "PostgreSQL is missing: apt-get install postgresql" >&2; exit 1; }

dir=$(mktemp -d /tmp/dogear-postgres.XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses to run as root
  id postgres >/dev/null 2>&1 || useradd --system postgres
  chown postgres "$dir"
  as=(setpriv --reuid=postgres --regid="$(id -g postgres)" --clear-groups)
fi
stop() {
  "${as[@]}" "$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1 || true
  rm -rf "$dir"
}
trap stop EXIT

"${as[@]}" "$bin/initdb" -D "$dir/data" -U dogear -A trust -E UTF8 --locale=C.UTF-8 >/dev/null
# A server's certificate, and a user who must come with it and with a password.
go -C "$(dirname "$0")/.." run ./e2e/certificate "$dir"
[ "$(id -u)" != 0 ] || chown postgres "$dir"/*.crt "$dir"/*.key
{ echo "hostssl all keeper 127.0.0.1/32 scram-sha-256"; echo "host all keeper 127.0.0.1/32 reject"; cat "$dir/data/pg_hba.conf"; } >"$dir/hba"
cat "$dir/hba" >"$dir/data/pg_hba.conf"
# Asked for last: until it is taken, somebody else may get it.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# Tests may lose this cluster at any time; its own durability is not what they
# test. Benchmarks measure it and say DOGEAR_POSTGRES_FSYNC=on.
"${as[@]}" "$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start >/dev/null \
  -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=$dir -c max_connections=300 -c fsync=${DOGEAR_POSTGRES_FSYNC:-off} \
      -c ssl=on -c ssl_cert_file=$dir/server.crt -c ssl_key_file=$dir/server.key" \
  || { cat "$dir/log" >&2; exit 1; }

psql -qX -h 127.0.0.1 -p "$port" -U dogear -d postgres -c "CREATE ROLE keeper LOGIN PASSWORD 'hush-hush'"

export DOGEAR_TEST_POSTGRES_CA="$dir/ca.crt"
export DOGEAR_TEST_POSTGRES="postgres://dogear@127.0.0.1:$port/postgres?sslmode=disable"
"$@"
