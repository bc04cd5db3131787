# orrery alone in an image of one file:
#   docker build -t orrery .
#   docker run --rm orrery reproduce orloj-table-3
#   docker run --rm -v "$PWD:/work" orrery run scenarios/one-gpu-bert.toml --html run.html
FROM rust:1.95-bookworm AS build
WORKDIR /orrery
COPY . .
# Static: the last stage has no C library.
RUN RUSTFLAGS="-C strip=symbols -C target-feature=+crt-static" cargo build --locked --profile dist \
    --target "$(rustc -vV | sed -n 's/^host: //p')" --package orrery --bin orrery \
    && cp target/*/dist/orrery /usr/local/bin/orrery

FROM scratch
COPY --from=build /usr/local/bin/orrery /orrery
WORKDIR /work
ENTRYPOINT ["/orrery"]
CMD ["--help"]
