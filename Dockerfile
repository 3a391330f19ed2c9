# clatune on Debian with PoCL: docker build -t clatune . && docker run --rm clatune clatune devices
# NVIDIA's container toolkit adds a GPU, whose driver must be registered:
#   docker run --rm --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility -e OCL_ICD_VENDORS=libnvidia-opencl.so.1 clatune clatune devices
FROM debian:12-slim AS packages
COPY . /src
WORKDIR /src
RUN scripts/debian-package /packages

FROM debian:12-slim
RUN --mount=from=packages,source=/packages,target=/packages \
    apt-get update && \
    apt-get install -y --no-install-recommends /packages/*.deb gcc libc6-dev libpq5 pocl-opencl-icd && \
    rm -rf /var/lib/apt/lists/*
RUN useradd --create-home tuner
USER tuner
WORKDIR /work
CMD ["clatune", "--help"]
