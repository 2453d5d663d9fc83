"""Settings, all from environment variables; docs/reference lists them. Wrong values stop the start."""

import os
import platform
import re
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

import dj_database_url
from kombu import Queue
from whitenoise.compress import Compressor

import perfdash
from perfdash import environment, oidc
from perfdash.addresses import own_addresses, redis_url, verified
from perfdash.mail import mail_server

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIRECTORY = Path(environment.text("PERFDASH_DATA", str(BASE_DIR / ".perfdash"))).absolute()

DEBUG = environment.boolean("DEBUG", False)
SECRET_KEY = environment.secret("SECRET_KEY")
ALLOWED_HOSTS = environment.words("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = environment.words("CSRF_TRUSTED_ORIGINS")

# Where things are

DATABASE_URL = environment.secret("DATABASE_URL") or "postgresql:///perfdash"
BROKER_URL = verified(environment.secret("BROKER_URL") or "redis://127.0.0.1:6379/0")
PROGRESS_URL = redis_url(BROKER_URL)  # the same server, as redis-py spells its address
BASE_URL = environment.text("PERFDASH_BASE_URL")
WORK_DIRECTORY = Path(environment.text("WORK_DIRECTORY", str(DATA_DIRECTORY / "work")))

DATABASE_POOLED = environment.boolean("DATABASE_POOLED", False)
DATABASES = {
    "default": dj_database_url.parse(
        DATABASE_URL,
        conn_max_age=60,
        conn_health_checks=True,
        # One outside a transaction would be looked for on another connection of the pool.
        disable_server_side_cursors=DATABASE_POOLED,
    )
}
DATABASE_ANSWER_SECONDS = environment.seconds("DATABASE_ANSWER_SECONDS", 60)
if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":
    DATABASES["default"]["OPTIONS"] = {
        # A network that carries nothing is noticed by the kernel in less than half a minute.
        "connect_timeout": 10,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 25_000,  # milliseconds
        # A process that was stopped in the middle holds nobody up for long. A pool takes no such options: there they
        # are set for the role.
        **(
            {}
            if DATABASE_POOLED
            else {"options": "-c idle_in_transaction_session_timeout=60s -c lock_timeout=30s"}
        ),
        **DATABASES["default"].get("OPTIONS", {}),
    }

# Statistics: its matrices are small, so that threads would cost more than they bring. Read when numpy is loaded

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Secrets of targets

ENCRYPTION_KEYS = environment.fernet_keys("PERFDASH_ENCRYPTION_KEYS")

# Sign-in by an OpenID Connect provider

OIDC = oidc.provider()

# E-mail, of notifications; without a server none is sent

EMAIL_SERVER = mail_server(environment.secret("PERFDASH_EMAIL_URL"))
EMAIL_HOST, EMAIL_PORT = EMAIL_SERVER.host, EMAIL_SERVER.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = EMAIL_SERVER.user, EMAIL_SERVER.password
EMAIL_USE_TLS, EMAIL_USE_SSL = EMAIL_SERVER.starttls, EMAIL_SERVER.tls
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = environment.text("PERFDASH_EMAIL_FROM", "perfdash@localhost")

# Secrets for redaction, in addition to those that this process decrypts later

SECRETS = [
    SECRET_KEY,
    *ENCRYPTION_KEYS,
    EMAIL_SERVER.password,
    *(unquote(urlsplit(url).password or "") for url in (DATABASE_URL, BROKER_URL)),
    OIDC.client_secret if OIDC else "",
]

# Where workers may connect: rules of host or network and port; nothing is allowed by default

ALLOWED_ADDRESSES = environment.text("PERFDASH_ALLOWED_ADDRESSES")
SANDBOX_URL = environment.text("PERFDASH_SANDBOX_URL").rstrip("/")
OWNER_CONFIRMS = environment.boolean("PERFDASH_OWNER_CONFIRMS", False)
WORKER_PROGRAMS = environment.choice(
    "PERFDASH_WORKER_PROGRAMS", ("by teams", "operators", "administrators", "off")
)
PROGRAM_SERVICE = environment.text("PERFDASH_PROGRAM_SERVICE")
NOTIFICATION_ADDRESSES = environment.text("PERFDASH_NOTIFICATION_ADDRESSES")
OWN_ADDRESSES = own_addresses(
    DATABASE_URL,
    BROKER_URL,
    BASE_URL,
    extra=[*environment.words("PERFDASH_OWN_ADDRESSES"), *EMAIL_SERVER.addresses],
)

# Leases of target and generator host, and how often who looks

LEASE_SECONDS = environment.seconds("LEASE_SECONDS", 30)
LEASE_GRACE_SECONDS = environment.seconds("LEASE_GRACE_SECONDS", 10)
LEASE_MARGIN_SECONDS = environment.seconds("LEASE_MARGIN_SECONDS", 10)
RENEW_SECONDS = environment.seconds("RENEW_SECONDS", 5)
STEP_SECONDS = environment.seconds("STEP_SECONDS", 600)
GENERATOR_HOST = environment.text("PERFDASH_GENERATOR_HOST") or platform.node()
GENERATORS_SECONDS = environment.seconds("GENERATORS_SECONDS", 120)
DISPATCH_SECONDS = environment.seconds("DISPATCH_SECONDS", 2)
PROBE_SECONDS = environment.seconds("PROBE_SECONDS", 60)
NOTIFY_SECONDS = environment.seconds("PERFDASH_NOTIFY_SECONDS", 5)
environment.refuse_hopeless_leases(
    lease=LEASE_SECONDS,
    margin=LEASE_MARGIN_SECONDS,
    grace=LEASE_GRACE_SECONDS,
    renew=RENEW_SECONDS,
    dispatch=DISPATCH_SECONDS,
)

# Django

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.forms",
    "axes",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "campaigns.apps.CampaignsConfig",
]

MIDDLEWARE = [
    "perfdash.request_log.request_log",
    "perfdash.headers.security_headers",
    "django.middleware.security.SecurityMiddleware",
    "perfdash.errors.error_answers",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "perfdash.compression.CompressedPages",
    "perfdash.unchanged.UnchangedPages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "campaigns.kit.activity.acting",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "campaigns.accounts.sign_in.sessions.Seen",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    [
                        "perfdash.templates.Compact",
                        "django.template.loaders.app_directories.Loader",
                    ],
                ),
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "campaigns.kit.pages.people.rights",
            ],
        },
    },
]

FORM_RENDERER = "campaigns.kit.pages.forms.Renderer"
ROOT_URLCONF = "perfdash.urls"
WSGI_APPLICATION = "perfdash.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "account_login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]

# Sign-in: django-allauth

ACCOUNT_ADAPTER = "campaigns.accounts.sign_in.start_session.Adapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True  # for SESSION_COOKIE_AGE, and not until the browser is closed
# These count in a cache of one process; passwords are counted by axes, codes by second_factor, and mails of all
# processes by sign_in.password.
ACCOUNT_RATE_LIMITS = {
    **dict.fromkeys(("login", "login_failed", "change_password", "reauthenticate")),
    "reset_password": "10/m/ip,3/10m/key",
}
ACCOUNT_PASSWORD_RESET_BY_CODE_ENABLED = True  # a code to type, not a link: no log may hold it
ACCOUNT_PASSWORD_RESET_BY_CODE_TIMEOUT = 600
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False  # nobody has mail sent to strangers
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_FORMS = {
    "login": "campaigns.accounts.sign_in.forms.SignInForm",
    "change_password": "campaigns.accounts.sign_in.forms.ChangeForm",
    "set_password": "campaigns.accounts.sign_in.forms.FirstForm",
    "reauthenticate": "campaigns.accounts.sign_in.forms.ConfirmPasswordForm",
    "reset_password": "campaigns.accounts.sign_in.forms.ResetForm",
    "confirm_password_reset_code": "campaigns.accounts.sign_in.forms.ResetCodeForm",
    "reset_password_from_key": "campaigns.accounts.sign_in.forms.OtherPasswordForm",
}
MFA_ADAPTER = "campaigns.accounts.second_factor.Adapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes", "webauthn"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_TOLERANCE = 1  # periods that a phone's clock may be off, before and after
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_FORMS = {
    "authenticate": "campaigns.accounts.sign_in.forms.SignInCodeForm",
    "reauthenticate": "campaigns.accounts.sign_in.forms.ConfirmCodeForm",
    "activate_totp": "campaigns.accounts.sign_in.forms.AppForm",
    "add_webauthn": "campaigns.accounts.sign_in.forms.PasskeyForm",
}
SOCIALACCOUNT_ADAPTER = "campaigns.accounts.sign_in.exchange.Adapter"

# Guessing of passwords. What is counted is a name together with an address: who only knows a name locks
# nobody out, and one person's errors do not lock out everybody behind the same proxy.

AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=10)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "perfdash.clients.client_address"
AXES_LOCKOUT_CALLABLE = "campaigns.accounts.sign_in.password.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True  # only failures are stored, until they are too old to count
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# Threads of the web server, each of which works on one request at a time

WEB_THREADS = environment.whole("PERFDASH_WEB_THREADS", 8)

# How many requests of one web process may wait for a campaign to change; each of them keeps a thread

API_WAITING = environment.whole("PERFDASH_API_WAITING", 2)

REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "campaigns.kit.api.openapi.Documented",
    "URL_FORMAT_OVERRIDE": None,  # `?format=` is of a file
}
SPECTACULAR_SETTINGS = {
    "TITLE": "perfdash",
    "VERSION": perfdash.__version__,
    "DESCRIPTION": "Benchmark campaigns: define, launch, watch, judge. What each field means is in docs/reference/api.md.",
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SORT_OPERATIONS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "CampaignState": "campaigns.models.Campaign.State",
        "RunState": "campaigns.models.Run.State",
        "ConclusionState": "campaigns.models.Conclusion.State",
        "Scope": "campaigns.models.Scope",
        "AttemptState": "campaigns.models.Attempt.State",
        "AttemptPhase": "campaigns.models.Attempt.Phase",
        "Purpose": "campaigns.models.Run.Purpose",
        "Order": "campaigns.models.Campaign.Order",
        "StopRule": "campaigns.models.Campaign.StopRule",
        "Fidelity": "campaigns.models.Campaign.Fidelity",
        "TargetHealth": "campaigns.models.Target.Health",
        "PartOf": "campaigns.models.Phase.Of",
        "ProofStep": "campaigns.models.Proof.Step",
        "FactSide": "campaigns.models.EnvironmentFact.Side",
        "AlertEvidence": "campaigns.models.Alert.Evidence",
        "StandingEvidence": "campaigns.trends.standing.EVIDENCE",
        "SessionKind": "campaigns.models.Session.Kind",
        "LogTone": "campaigns.models.LogLine.Tone",
        "ChannelKind": "campaigns.models.Channel.Kind",
        "DeliveryState": "campaigns.models.Delivery.State",
        "AnnouncementKind": "campaigns.models.Announcement.Kind",
        "ToldKind": "campaigns.accounts.notifications.channels.CHOICES",
        "InvitationState": "campaigns.accounts.invitations.STATES",
        "ProgramState": "campaigns.models.Program.State",
    },
}

# How often who may ask the API; counted in the broker, and not at all where that is away

API_RATES = {
    "read": environment.rate("PERFDASH_API_READ_RATE", "6000/min"),
    "write": environment.rate("PERFDASH_API_WRITE_RATE", "30000/min"),
    "session": environment.rate("PERFDASH_API_SESSION_RATE", "12000/min"),
    "failure": environment.rate("PERFDASH_API_FAILURE_RATE", "60/min"),
}

# Limits of what is sent: one for the whole body, files included. The API takes less (campaigns.kit.api.parsing).

MOST_BYTES = 2_500_000
DATA_UPLOAD_MAX_MEMORY_SIZE = MOST_BYTES
LARGE_BODIES = (
    (re.compile(r"/api/v1/(submissions|campaigns/\d+/runs)"), 32_000_000),
    (re.compile(r"/api/v1/imports|/import/(preview/)?"), 200_000_000),
    (
        re.compile(r"/api/v1/targets/\d+/import-scenario|/campaigns/(new|\d+/(edit|clone))/"),
        18_000_000,
    ),
)
"""Addresses that take more than MOST_BYTES, and how much: results, files of other tools, and recorded requests."""
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 10

# Static files: collected, compressed and named by their content; or served from where they lie

STATIC_COLLECTED = environment.boolean("STATIC_COLLECTED", not DEBUG)
STATIC_URL = "static/"
STATIC_ROOT = (
    Path(environment.text("STATIC_ROOT", str(BASE_DIR / "static"))) if STATIC_COLLECTED else None
)
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.AppDirectoriesFinder"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "perfdash.static_files.HashedStorage"
        if STATIC_COLLECTED
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_USE_FINDERS = not STATIC_COLLECTED
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (*Compressor.SKIP_COMPRESS_EXTENSIONS, "map")

# Cookies and transport

HTTPS = environment.boolean("PERFDASH_HTTPS", urlsplit(BASE_URL).scheme == "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [
    r"^health/?$",
    r"^ready/?$",
    r"^metrics/?$",
]  # requested from inside, over HTTP
SECURE_HSTS_SECONDS = int(environment.seconds("PERFDASH_HSTS_SECONDS", 3600)) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = environment.boolean("PERFDASH_HSTS_SUBDOMAINS", False)
SECURE_HSTS_PRELOAD = environment.boolean("PERFDASH_HSTS_PRELOAD", False)
BEHIND_PROXY = environment.boolean("PERFDASH_BEHIND_PROXY", False)
if BEHIND_PROXY:
    # Only where a proxy sets this header on every request; anybody else could forge it.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_NAME = "perfdash_session"
CSRF_COOKIE_NAME = "perfdash_csrf"
CSRF_COOKIE_HTTPONLY = True  # pages bring the token along; no script reads the cookie
X_FRAME_OPTIONS = "DENY"
MESSAGE_TAGS = {10: "thin", 20: "info", 25: "pass", 30: "warn", 40: "worse"}  # tones of the notes

# Celery. PostgreSQL is the truth: no results are stored, and the next dispatch replaces a lost message.

CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker for ever
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 5,
    # One that takes connections and answers nothing would hold every thread of the web server for ever.
    "socket_timeout": 5,
    "socket_keepalive": True,
    # For senders, who would otherwise hang where the broker is away: three tries, then an error.
    "max_retries": 3,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.5,
}
CELERY_TASK_QUEUES = [Queue("measure"), Queue("generate"), Queue("control"), Queue("analysis")]
CELERY_TASK_DEFAULT_QUEUE = "control"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "perfdash.alive:Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
# A message expires by the clocks of two hosts, which may be minutes apart; one that is late does no harm.
MESSAGE_SECONDS = 300
TIDY_SECONDS = 600
LINES_SECONDS = environment.seconds("LINES_SECONDS", 30)
CELERY_BEAT_SCHEDULE = {
    "dispatch": {
        "task": "campaigns.dispatch",
        "schedule": DISPATCH_SECONDS,
        "options": {"expires": max(MESSAGE_SECONDS, 5 * DISPATCH_SECONDS)},
    },
    "probe targets": {
        "task": "campaigns.probe_targets",
        "schedule": PROBE_SECONDS,
        "options": {"expires": max(MESSAGE_SECONDS, PROBE_SECONDS)},
    },
    "notify": {
        "task": "campaigns.notify",
        "schedule": NOTIFY_SECONDS,
        "options": {"expires": max(MESSAGE_SECONDS, NOTIFY_SECONDS)},
    },
    "lines": {
        "task": "campaigns.lines",
        "schedule": LINES_SECONDS,
        "options": {"expires": max(MESSAGE_SECONDS, LINES_SECONDS)},
    },
    "tidy": {
        "task": "campaigns.tidy",
        "schedule": TIDY_SECONDS,
        "options": {"expires": max(MESSAGE_SECONDS, TIDY_SECONDS)},
    },
}

# A file that workers and beat touch while they do their work, for health checks; empty: none

CELERY_IMPORTS = ["perfdash.alive"]
ALIVE_FILE = environment.text("PERFDASH_ALIVE_FILE")

# Monitoring

VERSION = perfdash.__version__
METRICS_TOKEN = environment.secret("PERFDASH_METRICS_TOKEN")

# Log: everything to stderr; the parent process stores it

LOG_FORMAT = environment.choice("LOG_FORMAT", ("line", "json"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "context": {"()": "perfdash.logs.Context"},
        "brief": {"()": "perfdash.logs.BriefOutages"},
        "refused": {"()": "perfdash.logs.RefusedInput"},
    },
    "formatters": {
        "line": {
            "()": "perfdash.logs.Line",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"()": "perfdash.logs.Json"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": LOG_FORMAT,
            "filters": ["context", "brief", "refused"],
        }
    },
    "root": {"handlers": ["stderr"], "level": environment.text("LOG_LEVEL", "INFO")},
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        "django.server": {"handlers": [], "propagate": True},
        "axes": {"level": "WARNING"},
        # A line for every look whether something may start would hide the rest.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.request": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}
