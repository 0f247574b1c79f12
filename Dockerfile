# The server, alone: docker build -t maskd:0.2.0 .
#
# Two stages: Debian bookworm builds, the image has the binary and its shared libraries. It runs as user
# 65532, needs no write access but to the directory of a Unix socket, and by default listens on a
# socket in /tmp and on its own loopback; name other addresses with --listen.
# A release pins the base by digest: --build-arg BASE=debian:bookworm-slim@sha256:...
ARG BASE=debian:bookworm-slim
# hadolint ignore=DL3006
FROM ${BASE} AS build

WORKDIR /src
COPY scripts/install-deps scripts/
RUN scripts/install-deps build
COPY . .
# The time in the bill of materials.
ARG SOURCE_DATE_EPOCH=0
RUN cmake --preset release -DMASKD_BUILD_TESTS=OFF -DMASKD_BUILD_BENCH=OFF -DMASKD_LIBRARY_ALONE=OFF \
    && cmake --build --preset release --target maskd \
    && scripts/image-root build/release/service/maskd /root-of-image \
    && install -D -m 0644 LICENSE /root-of-image/usr/share/doc/maskd/LICENSE \
    && python3 packaging/notices.py build/release maskd >/root-of-image/usr/share/doc/maskd/third-party-notices \
    && SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH} python3 packaging/sbom.py --image build/release \
        >/root-of-image/usr/share/doc/maskd/maskd.cdx.json

FROM scratch
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="maskd" \
      org.opencontainers.image.description="Turns grammars into token masks for LLM engines, over gRPC" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /root-of-image/ /
USER 65532:65532
EXPOSE 7411 9411
STOPSIGNAL SIGTERM
# Asks at the socket of --listen; where that is another one than by default, MASKD_LISTEN must say so.
HEALTHCHECK --interval=10s --timeout=2s CMD ["/usr/local/bin/maskd", "--health=readiness"]
ENTRYPOINT ["/usr/local/bin/maskd"]
