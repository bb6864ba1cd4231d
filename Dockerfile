# syntax=docker/dockerfile:1
# This file has not been built yet: no container engine was at hand where it was
# written. It needs glibc and libstdc++, because DuckDB is linked in.
FROM node:22-bookworm-slim AS web
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY static ./static
RUN npm run build

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=web /src/static/dist ./static/dist
# The same way of linking as in the Makefile (docs/adr/0019).
RUN CGO_ENABLED=1 CGO_CFLAGS="-g -O2 -DHAVE_FDATASYNC=1" go build -trimpath -ldflags '-extldflags "-Wl,--no-export-dynamic -Wl,-Ttext-segment=0x410000"' -o /dogear ./cmd/server

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libstdc++6 python3 tini tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --home-dir /var/lib/dogear --create-home dogear
COPY --from=build /dogear /usr/local/bin/dogear
USER dogear
# The key of secrets lies beside the data folder, so the volume is the folder of both.
ENV DOGEAR_DATA=/var/lib/dogear/data DOGEAR_ADDR=0.0.0.0:8080
VOLUME /var/lib/dogear
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["dogear", "health"]
# tini collects what a script leaves behind.
ENTRYPOINT ["tini", "--", "dogear"]
CMD ["serve"]
