FROM oven/bun:1.4.5 AS build
WORKDIR /src
COPY package.json bun.lock ./
COPY patches patches
RUN bun install --frozen-lockfile
COPY . .
# distroless has no mkdir, so the data directory is made here
RUN bun run build && mkdir /data

# `cc`, not `base` or Alpine: PostgreSQL inside needs glibc and libstdc++
FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/dist/cloud-analytics /cloud-analytics
COPY --from=build /src/THIRD_PARTY_NOTICES /THIRD_PARTY_NOTICES
COPY --from=build --chown=65532:65532 /data /var/lib/cloud-analytics
USER 65532:65532
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/var/lib/cloud-analytics
VOLUME /var/lib/cloud-analytics
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s CMD ["/cloud-analytics", "health"]
# stop it with `docker stop --time 30` or more: deliveries under way get 20 s to finish
ENTRYPOINT ["/cloud-analytics"]
CMD ["serve"]
