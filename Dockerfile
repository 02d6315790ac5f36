# The API alone. Node comes with the image, so the runtime packages that npm would install are left out.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional
# The bill of materials: docker run --rm --entrypoint cat IMAGE sbom.cdx.json
RUN npm sbom --package-lock-only --omit=dev --omit=optional --sbom-format=cyclonedx > sbom.cdx.json

FROM node:24.21.0-bookworm-slim
# `scripts/start` uses it where memory is small.
RUN apt-get update && apt-get install --yes --no-install-recommends libjemalloc2 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=dependencies /app/sbom.cdx.json ./
COPY package.json ./
COPY scripts/start ./scripts/start
COPY src ./src
COPY sandbox ./sandbox
COPY web ./web
# The pages of the documentation, and the files that they offer.
COPY docs/guide ./docs/guide
COPY clients ./clients
COPY examples ./examples
# What is kept between starts when there is no Redis.
RUN mkdir /data cache && chown node:node /data cache
ENV DATA_DIR=/data
ENV NODE_COMPILE_CACHE=/app/cache
# By default the service listens on loopback, which nobody outside the container reaches.
ENV HOST=0.0.0.0
VOLUME /data
USER node
# Otherwise each thread and the import load the program that removes types.
RUN node src/cli/compile.ts
# docker build --build-arg GIT_COMMIT=$(git rev-parse HEAD): the image has no .git.
ARG GIT_COMMIT
ENV GIT_COMMIT=$GIT_COMMIT
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Not by npm: the process itself has to get SIGTERM.
CMD ["scripts/start"]
