# To pin the bases: --build-arg BUN_IMAGE=oven/bun@sha256:… --build-arg BASE_IMAGE=debian@sha256:…
ARG BUN_IMAGE=oven/bun:1.4.5
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${BUN_IMAGE} AS build
WORKDIR /src
COPY package.json bun.lock ./
COPY patches patches
RUN bun install --frozen-lockfile
COPY . .
ARG REVISION
RUN REVISION=$REVISION bun run build && bun src/build/sbom.ts > dist/sbom.cdx.json && mkdir /data

# The embedded PostgreSQL needs glibc and libstdc++, which Alpine does not have.
FROM ${BASE_IMAGE}
ARG VERSION=0.3.0-dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Cloud Analytics" \
      org.opencontainers.image.description="Analytics of AI coding sessions: quality, cost and security" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /src/dist/cloud-analytics /usr/local/bin/cloud-analytics
COPY --from=build /src/THIRD_PARTY_NOTICES /usr/share/doc/cloud-analytics/THIRD_PARTY_NOTICES
COPY --from=build /src/dist/sbom.cdx.json /usr/share/doc/cloud-analytics/sbom.cdx.json
COPY --from=build --chown=10001:10001 /data /var/lib/cloud-analytics
USER 10001:10001
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/var/lib/cloud-analytics
VOLUME /var/lib/cloud-analytics
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s CMD ["cloud-analytics", "health"]
# Stop with `docker stop --time 30` or more: requests and deliveries in flight have 20 s to finish.
ENTRYPOINT ["cloud-analytics"]
CMD ["serve"]
