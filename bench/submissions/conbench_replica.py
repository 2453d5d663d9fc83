# mypy: ignore-errors
"""A replica of Conbench's call `POST /api/benchmark-results/`, written anew from its public source (3af4a552, MIT).

Conbench's server is not on PyPI. This does for that call what it does there, with the same libraries: Flask, Flask-Login,
marshmallow, SQLAlchemy, psycopg2; sessions per request, `pool_pre_ping`; a look-up of the user, the case, the context, the
info, the hardware and the commit; the insertion of a result into a table of its columns and indexes; the result read again
with what it refers to, since SQLAlchemy forgets rows at a commit; the answer with all of it. It leaves out metrics,
compression, and the request to GitHub for a commit that is not known: all commits are.

It runs in an environment of its own and imports nothing of perfdash: `gunicorn bench.submissions.conbench_replica:make()`.
"""

import hashlib
import os
import uuid
from datetime import datetime
from threading import get_ident

import flask
import flask_login
import marshmallow
import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import declarative_base, relationship, scoped_session, sessionmaker

Base = declarative_base()
LETTERS = 50
KNOWN_UNITS = ("s", "ns", "B/s", "i/s")


def key():
    """Return a new key; Conbench's are of version 7, which sort by time."""
    return uuid.uuid1().hex


def key_column():
    return sa.Column(sa.String(LETTERS), primary_key=True, default=key)


class User(flask_login.UserMixin, Base):
    """Somebody who submits."""

    __tablename__ = "user"
    id = key_column()
    email = sa.Column(sa.String(120), unique=True, index=True, nullable=False)
    name = sa.Column(sa.String(120), nullable=False)
    password = sa.Column(sa.String(128), nullable=False)


class Case(Base):
    """A benchmark with its parameters."""

    __tablename__ = "case"
    __table_args__ = (sa.Index("case_index", "name", "tags", unique=True),)
    id = key_column()
    name = sa.Column(sa.Text, nullable=False)
    tags = sa.Column(JSONB, nullable=False)


class Context(Base):
    """What must be the same where results are compared."""

    __tablename__ = "context"
    __table_args__ = (sa.Index("context_index", "tags", unique=True),)
    id = key_column()
    tags = sa.Column(JSONB, nullable=False)


class Info(Base):
    """What may differ."""

    __tablename__ = "info"
    __table_args__ = (sa.Index("info_index", "tags", unique=True),)
    id = key_column()
    tags = sa.Column(JSONB, nullable=False)


MACHINE = (
    *("architecture_name", "kernel_name", "os_name", "os_version", "cpu_model_name"),
    *("cpu_l1d_cache_bytes", "cpu_l1i_cache_bytes", "cpu_l2_cache_bytes", "cpu_l3_cache_bytes"),
    *("cpu_core_count", "cpu_thread_count", "cpu_frequency_max_hz", "memory_bytes", "gpu_count"),
)


class Hardware(Base):
    """The machine."""

    __tablename__ = "hardware"
    id = key_column()
    name = sa.Column(sa.Text, nullable=False)
    type = sa.Column(sa.String(LETTERS), nullable=False, default="machine")
    hash = sa.Column(sa.String(1000), nullable=False, index=True)
    gpu_product_names = sa.Column(ARRAY(sa.Text), default=list)


for _name in MACHINE:
    _is_text = _name.endswith(("_name", "_version"))
    setattr(Hardware, _name, sa.Column(_name, sa.Text if _is_text else sa.BigInteger))


class Commit(Base):
    """The revision that was measured."""

    __tablename__ = "commit"
    __table_args__ = (sa.Index("commit_index", "sha", "repository", unique=True),)
    id = key_column()
    sha = sa.Column(sa.String(LETTERS), nullable=False)
    branch = sa.Column(sa.String(510))
    fork_point_sha = sa.Column(sa.String(LETTERS))
    parent = sa.Column(sa.String(LETTERS))
    repository = sa.Column(sa.String(300), nullable=False)
    message = sa.Column(sa.String(250), nullable=False)
    author_name = sa.Column(sa.String(100), nullable=False)
    author_login = sa.Column(sa.String(LETTERS))
    author_avatar = sa.Column(sa.String(100))
    timestamp = sa.Column(sa.DateTime)


AGGREGATES = ("mean", "min", "max", "median", "stdev", "q1", "q3", "iqr")


class Result(Base):
    """One result, of one case."""

    __tablename__ = "benchmark_result"
    id = key_column()
    case_id = sa.Column(sa.ForeignKey("case.id"), nullable=False, index=True)
    info_id = sa.Column(sa.ForeignKey("info.id"), nullable=False, index=True)
    context_id = sa.Column(sa.ForeignKey("context.id"), nullable=False, index=True)
    hardware_id = sa.Column(sa.ForeignKey("hardware.id"), nullable=False)
    commit_id = sa.Column(sa.ForeignKey("commit.id"), index=True)
    run_id = sa.Column(sa.Text, nullable=False, index=True)
    run_tags = sa.Column(JSONB, nullable=False)
    run_reason = sa.Column(sa.Text)
    commit_repo_url = sa.Column(sa.Text, nullable=False)
    history_fingerprint = sa.Column(sa.Text, nullable=False, index=True)
    data = sa.Column(ARRAY(sa.Numeric))
    times = sa.Column(ARRAY(sa.Numeric))
    optional_benchmark_info = sa.Column(JSONB)
    unit = sa.Column(sa.Text)
    time_unit = sa.Column(sa.Text)
    batch_id = sa.Column(sa.Text, index=True)
    timestamp = sa.Column(sa.DateTime, nullable=False, index=True)
    iterations = sa.Column(sa.Integer)
    error = sa.Column(JSONB)
    validation = sa.Column(JSONB)
    change_annotations = sa.Column(JSONB)
    case = relationship(Case, lazy="joined")
    info = relationship(Info, lazy="joined")
    context = relationship(Context, lazy="joined")
    hardware = relationship(Hardware, lazy="joined")
    commit = relationship(Commit, lazy="joined")


for _name in AGGREGATES:
    _rule = sa.CheckConstraint(f"{_name} >= 0")
    setattr(Result, _name, sa.Column(_name, sa.Numeric, _rule))
_recent = Result.timestamp >= datetime(2023, 6, 3)  # noqa: DTZ001  as its column is
sa.Index("result_by_id", Result.id, postgresql_where=_recent)
sa.Index("result_by_reason", Result.run_reason, Result.id, postgresql_where=_recent)
sa.Index("result_by_run", Result.run_id, Result.timestamp, postgresql_where=_recent)


class Stats(marshmallow.Schema):
    """The numbers of a result."""

    data = marshmallow.fields.List(marshmallow.fields.Decimal(allow_none=True), required=True)
    times = marshmallow.fields.List(marshmallow.fields.Decimal(allow_none=True), required=True)
    unit = marshmallow.fields.String(required=True)
    time_unit = marshmallow.fields.String(required=True)
    iterations = marshmallow.fields.Integer(required=True)


class MachineInput(marshmallow.Schema):
    """The machine, as it is sent: all are texts or numbers as texts."""

    name = marshmallow.fields.String(required=True)
    gpu_product_names = marshmallow.fields.List(marshmallow.fields.String(), required=True)


class MachineSchema(MachineInput):
    """With all columns of the machine."""

    locals().update(
        {
            name: (
                marshmallow.fields.String
                if name.endswith(("_name", "_version"))
                else marshmallow.fields.Integer
            )(required=True)
            for name in MACHINE
        }
    )


class GitHub(marshmallow.Schema):
    """Where the measured code is."""

    commit = marshmallow.fields.String(required=True)
    repository = marshmallow.fields.String(required=True)


class ResultInput(marshmallow.Schema):
    """A result, as it is sent."""

    run_id = marshmallow.fields.String(required=True)
    run_tags = marshmallow.fields.Dict(
        keys=marshmallow.fields.String(), values=marshmallow.fields.String(), required=False
    )
    run_reason = marshmallow.fields.String(required=False)
    batch_id = marshmallow.fields.String(required=True)
    timestamp = marshmallow.fields.AwareDateTime(required=True)
    machine_info = marshmallow.fields.Nested(MachineSchema, required=True)
    stats = marshmallow.fields.Nested(Stats, required=True)
    tags = marshmallow.fields.Dict(required=True)
    info = marshmallow.fields.Dict(required=True)
    context = marshmallow.fields.Dict(required=True)
    github = marshmallow.fields.Nested(GitHub, required=True)


SCHEMA = ResultInput()
COMMITS = ("sha", "branch", "parent", "repository", "message", "author_name", "author_login")


def make():
    """Return the application, on the database of CONBENCH_URL, whose tables are there."""
    engine = sa.create_engine(
        os.environ["CONBENCH_URL"], pool_pre_ping=True, pool_size=15, json_deserializer=orjson.loads
    )
    session = scoped_session(sessionmaker(bind=engine), scopefunc=get_ident)
    app = flask.Flask(__name__)
    app.secret_key = "of-the-benchmark"  # noqa: S105
    login = flask_login.LoginManager(app)
    login.user_loader(lambda identifier: session.get(User, identifier))
    login.unauthorized_handler(lambda: ({"code": 401}, 401))
    app.teardown_appcontext(lambda *_: session.remove())

    def get_or_create(model, **values):
        found = session.scalars(sa.select(model).filter_by(**values)).first()
        if found is None:
            found = model(**values)
            session.add(found)
            session.commit()
        return found

    @app.post("/api/login/")
    def log_in():
        email = flask.request.get_json()["email"]
        flask_login.login_user(session.scalars(sa.select(User).filter_by(email=email)).one())
        return "", 204

    @app.post("/api/benchmark-results/")
    @flask_login.login_required
    def submit():
        try:
            sent = SCHEMA.load(flask.request.get_json())
        except marshmallow.ValidationError as error:
            return {"code": 400, "description": error.messages}, 400
        stats, tags = sent["stats"], sent["tags"]
        if stats["unit"] not in KNOWN_UNITS or any(value is None for value in stats["data"]):
            return {"code": 400}, 400
        case = get_or_create(Case, name=tags.pop("name"), tags=tags)
        context = get_or_create(Context, tags=sent["context"])
        info = get_or_create(Info, tags=sent["info"])
        machine = sent["machine_info"]
        counted = ("name", "gpu_count", "cpu_core_count", "cpu_thread_count", "memory_bytes")
        machine["hash"] = "-".join(str(machine[each]) for each in counted)
        hardware = get_or_create(Hardware, **machine)
        repository, sha = sent["github"]["repository"], sent["github"]["commit"]
        commit = session.scalars(
            sa.select(Commit).filter_by(sha=sha, repository=repository).limit(1)
        ).first()
        mark = "".join([case.id, context.id, hardware.hash, repository])
        result = Result(
            case_id=case.id,
            info_id=info.id,
            context_id=context.id,
            hardware_id=hardware.id,
            commit_id=commit and commit.id,
            run_id=sent["run_id"],
            run_tags=sent.get("run_tags") or {},
            run_reason=sent.get("run_reason"),
            commit_repo_url=repository,
            history_fingerprint=hashlib.md5(mark.encode(), usedforsecurity=False).hexdigest(),
            batch_id=sent["batch_id"],
            timestamp=sent["timestamp"].replace(tzinfo=None),
            mean=sum(stats["data"]) / len(stats["data"]),
            change_annotations={},
            **stats,
        )
        session.add(result)
        session.commit()
        answer = shown(result)
        return answer, 201, {"Location": answer["links"]["self"]}

    return app


def number(value):
    return None if value is None else float(value)


def shown(result):
    """Return a result with all that it refers to."""
    base = flask.request.host_url
    stats = {name: number(getattr(result, name)) for name in AGGREGATES}
    return {
        "id": result.id,
        "run_id": result.run_id,
        "run_tags": result.run_tags,
        "run_reason": result.run_reason,
        "commit_repo_url": result.commit_repo_url,
        "batch_id": result.batch_id,
        "history_fingerprint": result.history_fingerprint,
        "timestamp": result.timestamp.isoformat() + "Z",
        "optional_benchmark_info": result.optional_benchmark_info,
        "validation": result.validation,
        "change_annotations": result.change_annotations or {},
        "stats": {
            "data": [number(each) for each in result.data],
            "times": [number(each) for each in result.times],
            "unit": result.unit,
            "time_unit": result.time_unit,
            "iterations": result.iterations,
            **stats,
        },
        "error": result.error,
        "tags": {"name": result.case.name, **result.case.tags},
        "commit": result.commit and {name: getattr(result.commit, name) for name in COMMITS},
        "hardware": {name: getattr(result.hardware, name) for name in ("id", "name", *MACHINE)},
        "links": {
            "self": f"{base}api/benchmark-results/{result.id}/",
            "info": f"{base}api/info/{result.info_id}/",
            "context": f"{base}api/contexts/{result.context_id}/",
            "run": f"{base}api/runs/{result.run_id}/",
        },
    }


def prepare():
    """Make the tables, a user, and the commit that is measured."""
    engine = sa.create_engine(os.environ["CONBENCH_URL"])
    Base.metadata.create_all(engine)
    with sessionmaker(bind=engine)() as session:
        session.add(User(email="bench@example.org", name="bench", password="-"))  # noqa: S106
        session.add(
            Commit(sha="0" * 40, repository="https://example.org/a", message="", author_name="")
        )
        session.commit()


if __name__ == "__main__":
    prepare()
