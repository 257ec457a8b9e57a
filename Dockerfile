# A small image with the single-file bundle, run by an unprivileged user. Build, with the commit that `workspace version` names:
# docker build --tag workspace --build-arg BUILD_COMMIT=$(git rev-parse HEAD) --build-arg SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) .
FROM node:24.21.0-alpine AS build
WORKDIR /source
COPY package.json package-lock.json ./
COPY scripts/install.js scripts/
RUN npm ci --no-audit --no-fund
COPY . .
ARG BUILD_COMMIT=""
ARG SOURCE_DATE_EPOCH=""
RUN BUILD_COMMIT="$BUILD_COMMIT" SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" npm run build

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
