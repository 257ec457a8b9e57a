# A small image with the single-file bundle, run by an unprivileged user. Build: docker build --tag workspace .
FROM node:24.21.0-alpine AS build
WORKDIR /source
COPY package.json package-lock.json ./
COPY scripts/install.js scripts/
RUN npm ci --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24.21.0-alpine
# plan --base-ref reads the other commit with git. Alpine removes old package versions, so the version is not pinned.
# hadolint ignore=DL3018
RUN apk add --no-cache git && ln -s /usr/local/lib/workspace.mjs /usr/local/bin/workspace
COPY --from=build --chmod=0755 /source/workspace.mjs /usr/local/lib/workspace.mjs
COPY LICENSE /usr/share/licenses/workspace/LICENSE
USER 1000:1000
WORKDIR /work
ENTRYPOINT ["workspace"]
CMD ["--help"]
