"""An apidoc as a Foreman serves it at /apidoc/v2.json, of a few methods, that several tests import."""

import json


def parameter(name, type_="string", *, required=False, validator="", params=None):
    """A parameter as Apipie describes it."""
    described = {
        "name": name,
        "full_name": name,
        "description": "",
        "required": required,
        "allow_nil": False,
        "validator": validator,
        "expected_type": type_,
        "show": True,
    }
    return described | ({"params": params} if params else {})


def method(name, *apis, params=(), deprecated=None):
    """A method with its addresses: `GET /api/hosts`."""
    listed = [
        {"api_url": url, "http_method": verb, "short_description": "", "deprecated": deprecated}
        for verb, url in (each.split(" ") for each in apis)
    ]
    return {"name": name, "apis": listed, "params": list(params), "examples": [], "errors": []}


ID = parameter(
    "id", required=True, validator="Must be an identifier, string from 1 to 128 characters"
)
APIDOC = {
    "docs": {
        "name": "Foreman",
        "info": "<p>Foreman API v2 is currently the default API version.</p>",
        "copyright": "",
        "doc_url": "/apidoc/v2",
        "api_url": "/api",
        "resources": {
            "hosts": {
                "doc_url": "/apidoc/v2/hosts",
                "api_url": "/api",
                "name": "Hosts",
                "methods": [
                    method(
                        "index",
                        "GET /api/hosts",
                        "GET /api/hostgroups/:hostgroup_id/hosts",
                        params=[parameter("search"), parameter("per_page")],
                    ),
                    method("show", "GET /api/hosts/:id", params=[ID]),
                    method(
                        "create",
                        "POST /api/hosts",
                        params=[
                            parameter("location_id", "numeric"),
                            parameter(
                                "host",
                                "hash",
                                required=True,
                                params=[parameter("name", required=True), parameter("ip")],
                            ),
                        ],
                    ),
                    method(
                        "facts", "GET /api/hosts/:id/facts(.:format)", params=[ID], deprecated=True
                    ),
                ],
            },
            "ping": {"name": "Ping", "methods": [method("index", "get /katello/api/ping")]},
            "repositories": {
                "name": "Repositories",
                "methods": [
                    method(
                        "available",
                        "GET /katello/api/products/:product_id/repository_sets/:id/available_repositories",
                        params=[
                            ID,
                            parameter("product_id", "numeric", required=True),
                            parameter(
                                "kind",
                                required=True,
                                validator="Must be one of: <code>yum</code>, <code>file &amp; more</code>.",
                            ),
                        ],
                    ),
                    method("destroy", "DESTROY /katello/api/repositories/:id", params=[ID]),
                ],
            },
        },
    }
}


def apidoc():
    """The bytes of the apidoc."""
    return json.dumps(APIDOC, indent=1).encode()
