# One image for a whole study: `make image`, then `docker run -v "$PWD":/study tripleaudit run STUDY.yaml`.
FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/tripleaudit
COPY . .
ARG TORCH=2.13.0
RUN pip install --no-cache-dir "torch==$TORCH" && pip install --no-cache-dir -c envs/constraints.txt '.[all]'
WORKDIR /study
ENTRYPOINT ["tripleaudit"]
