# One static binary on an empty base.
#
#   docker build -t helmrel .
#   docker run --rm helmrel --version

FROM rust:1.95-bookworm AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends musl-tools ca-certificates \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The toolchain that the repository pins, before the code: a layer that seldom changes.
COPY rust-toolchain.toml .
RUN rustup target add "$(uname -m)-unknown-linux-musl"
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    target="$(uname -m)-unknown-linux-musl" \
 # At a fixed address, for the reason in build.rs.
 && export RUSTFLAGS="-C relocation-model=static" \
 && cargo build --release --locked --bin helmrel --target "$target" \
 && install -D "target/$target/release/helmrel" /out/helmrel \
 && mkdir -p /out/data /out/tmp && chmod 1777 /out/data /out/tmp

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /out/ /
ENV SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
USER 65532:65532
EXPOSE 8080 9090 9440
ENTRYPOINT ["/helmrel"]
CMD ["controller"]
