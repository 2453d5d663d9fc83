# perfdash for real servers: docker-compose.yml runs every process from this image.
FROM python:3.11-slim

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    STATIC_ROOT=/srv/static

COPY requirements.txt requirements-uv.txt /tmp/
RUN python -m venv --without-pip /opt/venv \
    && pip install --no-cache-dir --require-hashes --only-binary :all: -r /tmp/requirements-uv.txt \
    && uv pip install --no-cache --compile-bytecode --python /opt/venv/bin/python \
        --require-hashes --only-binary :all: -r /tmp/requirements.txt \
    && pip uninstall --yes uv \
    && rm /tmp/requirements*.txt

WORKDIR /srv/perfdash
COPY . .
RUN python manage.py collectstatic --no-input --verbosity 0 \
    && useradd --system --home-dir /nonexistent perfdash \
    && install -d -o perfdash -g perfdash /srv/work

USER perfdash
EXPOSE 8000
# Of the web server; docker-compose.yml names those of the other processes.
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s \
    CMD ["python", "-m", "perfdash.answers", "http://127.0.0.1:8000/health"]
CMD ["granian", "--interface", "wsgi", "--host", "0.0.0.0", "--port", "8000", \
     "--workers", "1", "--blocking-threads", "8", "--no-ws", "perfdash.wsgi:application"]
