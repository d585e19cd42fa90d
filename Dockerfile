# syntax=docker/dockerfile:1
# The image of the daemon: npm pack && docker build -t holdpoint .
# It runs the packed file, as a release has tested it. docs/deploy.md describes how an agent is added to it.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-trixie-slim
ARG DEBIAN_IMAGE=docker.io/library/debian:trixie-slim
ARG VERSION=0.1.0

FROM ${NODE_IMAGE} AS installed
# Node without the symbols of a debugger is 18 MB smaller.
RUN apt-get update \
  && apt-get install -y --no-install-recommends binutils \
  && strip --strip-unneeded -o /usr/local/bin/node-stripped /usr/local/bin/node
WORKDIR /opt/holdpoint
ARG VERSION
COPY holdpoint-${VERSION}.tgz package-lock.json ./
RUN tar -xzf holdpoint-${VERSION}.tgz --strip-components=1 --no-same-owner \
  && npm ci --omit=dev --omit=peer --ignore-scripts --no-audit --no-fund \
  && rm -r holdpoint-${VERSION}.tgz package-lock.json node_modules/.package-lock.json docs/screens

FROM ${DEBIAN_IMAGE}
# tini ends the orphans of scripts and passes signals on; bubblewrap isolates scripts where the host allows namespaces.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap ca-certificates tini \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/* \
  && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
  && echo 'holdpoint:x:10001:10001::/tmp:/usr/sbin/nologin' >> /etc/passwd \
  && echo 'holdpoint:x:10001:' >> /etc/group \
  && install -d /agent && install -d -o 10001 -g 10001 -m 0700 /agent/.service \
  && ln -s /opt/holdpoint/bin/holdpoint /usr/local/bin/holdpoint
COPY --from=installed /usr/local/bin/node-stripped /usr/local/bin/node
COPY --from=installed /opt/holdpoint /opt/holdpoint

ARG VERSION
ARG REVISION=
LABEL org.opencontainers.image.title="holdpoint" \
  org.opencontainers.image.description="An A2A agent runtime that holds a tool call until the right person releases it" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}"

# Only /agent/.service and /tmp are written to. A script could change a cache of compiled code, so there is none.
ENV HOME=/tmp XDG_STATE_HOME=/tmp/state NODE_DISABLE_COMPILE_CACHE=1
USER 10001:10001
WORKDIR /agent
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "const { port } = JSON.parse(fs.readFileSync('/agent/.service/serve.json', 'utf8')); fetch(`http://127.0.0.1:${port}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/bin/tini", "--", "holdpoint"]
CMD ["run", "--dir", "/agent", "--host", "0.0.0.0", "--port", "8080"]
