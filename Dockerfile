# perfdash for real servers: docker-compose.yml and deploy/kubernetes run every process from this image.

# Python's packages without what no process loads: tests, headers, symbols, translations, Arrow's clients of
# services, Plotly's own scripts and what checks figures (tests do).
# What wheels bring in folders `*.libs` keeps its symbols: some of it does not load without them.
FROM python:3.11-slim AS packages
COPY requirements.txt /tmp/
RUN apt-get update -q && apt-get install -q -y --no-install-recommends binutils \
    && python -m venv --without-pip /opt/venv \
    && pip --python /opt/venv/bin/python install --no-cache-dir --no-compile --quiet \
        --require-hashes --only-binary :all: -r /tmp/requirements.txt
WORKDIR /opt/venv/lib/python3.11/site-packages
RUN find . -type d -name tests -prune -exec rm -r {} + \
    && find . -type f -regex '.*\.\(po\|pyi\|pxd\|pxi\|pyx\|h\|hpp\|cc\)' -delete \
    && find . -path '*/locale/*' -name '*.mo' ! -path '*/en/*' -delete \
    && rm -r pyarrow/*flight* pyarrow/*s3* pyarrow/include pyarrow/src \
    && rm -r plotly/labextension plotly/package_data plotly/validators /opt/venv/share/jupyter \
    && find plotly/graph_objs -mindepth 1 -maxdepth 1 ! -name __init__.py -exec rm -r {} + \
    && find . -name '*.so*' -type f ! -path '*.libs/*' -exec strip --strip-unneeded {} + \
    && python -m compileall -q -j 0 .

FROM python:3.11-slim AS program
ENV PATH=/opt/venv/bin:$PATH STATIC_ROOT=/srv/static
COPY --from=packages /opt/venv /opt/venv
WORKDIR /srv/perfdash
COPY . .
RUN rm requirements.txt \
    && python -m compileall -q -j 0 . \
    && python manage.py collectstatic --no-input --verbosity 0 \
    && rm -r /opt/venv/lib/python3.11/site-packages/drf_spectacular_sidecar/static

# Python and what it needs of Debian, without pip, caches and documentation. Licences stay.
FROM python:3.11-slim AS system
RUN groupadd --gid 999 perfdash \
    && useradd --uid 999 --gid 999 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin perfdash \
    && groupadd --gid 998 perfdash-programs \
    && useradd --uid 998 --gid 998 --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin perfdash-programs \
    && install -d -o perfdash -g perfdash /srv/work /srv/sandbox \
    && install -d -o perfdash-programs -g perfdash-programs /srv/programs \
    && install -d -o perfdash-programs -g perfdash-programs -m 700 /srv/program-work \
    && find /usr/share/doc -type f ! -name copyright -delete \
    && rm -rf /root/.cache /usr/share/info /usr/share/locale /usr/share/man /usr/share/python-wheels \
        /var/cache/* /var/lib/apt/lists/* /var/log/* \
        /usr/bin/pip* /usr/lib/python3/dist-packages/* \
        /usr/local/bin/pip* /usr/local/bin/idle* /usr/local/lib/python3.11/ensurepip \
        /usr/local/lib/python3.11/idlelib /usr/local/lib/python3.11/site-packages/*

FROM scratch
COPY --from=system / /
COPY --from=program /opt/venv /opt/venv
COPY --from=program /srv/static /srv/static
COPY --from=program /srv/perfdash /srv/perfdash
ENV PATH=/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STATIC_ROOT=/srv/static
WORKDIR /srv/perfdash
# By number: Kubernetes cannot tell from a name that it is not root.
USER 999:999
EXPOSE 8000
# Of the web server; docker-compose.yml names those of the other processes.
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s \
    CMD ["python", "-m", "perfdash.answers", "http://127.0.0.1:8000/health"]
CMD ["python", "-m", "perfdash.web_server", "--interface", "rsgi", "--http", "1", "--host", "0.0.0.0", "--port", "8000", \
     "--workers", "1", "--no-ws", "perfdash.server:server"]
