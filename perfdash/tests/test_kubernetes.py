"""deploy/kubernetes fits the schemas of Kubernetes, and runs what docker-compose.yml runs."""

import shlex
import shutil
import subprocess

import kubernetes_validate
import pytest
import yaml
from django.conf import settings

BASE = settings.BASE_DIR / "deploy/kubernetes/base"
EXAMPLE = BASE.parent / "example"
PROGRAMS = "worker-programs"
VERSIONS = ("1.30", "1.37")
WORKLOADS = (
    *("web", "worker-measure", "worker-generate", "worker-control", "worker-analysis"),
    *("beat", "migrate"),
)


def resources():
    kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    texts = [(BASE / name).read_text() for name in kustomization["resources"]]
    return [resource for text in texts for resource in yaml.safe_load_all(text)]


def pods():
    return {
        resource["metadata"]["name"].removeprefix("perfdash-"): resource["spec"]["template"]["spec"]
        for resource in resources()
        if "template" in resource["spec"]
    }


def compose():
    return yaml.safe_load((settings.BASE_DIR / "docker-compose.yml").read_text())["services"]


def mounted(container):
    return {one["name"] for one in container["volumeMounts"]}


def policies():
    found = [one for one in resources() if one["kind"] == "NetworkPolicy"]
    return {one["metadata"]["name"].removeprefix("perfdash-"): one["spec"] for one in found}


def copied(tmp_path):
    """Return a copy of the example, with its secrets made."""
    place = tmp_path / "kubernetes"
    shutil.copytree(BASE.parent, place)
    subprocess.run([place / "example/make-secrets"], check=True)
    return place / "example"


def named(path):
    lines = path.read_text().splitlines()
    return {line.partition("=")[0] for line in lines if not line.startswith("#")}


@pytest.mark.parametrize("version", VERSIONS)
def test_each_resource_fits_the_schemas_of_kubernetes(version):
    for resource in resources():
        kubernetes_validate.validate(resource, version, strict=True)


def test_a_number_among_the_words_of_a_command_does_not_fit():
    resource = next(one for one in resources() if one["metadata"]["name"] == "perfdash-beat")
    resource["spec"]["template"]["spec"]["containers"][0]["args"].append(8)

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(resource, VERSIONS[-1], strict=True)


def test_each_process_of_compose_runs_with_the_same_command():
    services = compose()

    assert sorted([*pods(), PROGRAMS]) == sorted(
        name for name in services if name not in ("postgres", "redis", "sandbox")
    )
    assert sorted(pods()) == sorted(WORKLOADS)
    for name, pod in pods().items():
        command = services[name].get("command", "")
        assert pod["containers"][0].get("args", []) == shlex.split(command), name


def test_every_container_is_restricted_and_says_what_it_needs():
    for name, pod in pods().items():
        assert pod["securityContext"]["runAsNonRoot"], name
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            context = container["securityContext"]
            assert context["readOnlyRootFilesystem"], name
            assert not context["allowPrivilegeEscalation"], name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}, name
            assert "memory" in container["resources"]["limits"], name
        if name != "migrate":
            assert {"startupProbe", "livenessProbe"} <= pod["containers"][0].keys(), name


def test_each_container_has_the_secret_of_its_service():
    for name, pod in pods().items():
        for container in (*pod["containers"], *pod.get("initContainers", [])):
            given = [
                one["secretRef"]["name"]
                for one in container.get("envFrom", ())
                if "secretRef" in one
            ]
            assert given == [f"perfdash-{name}"] * (container["name"] != PROGRAMS)


def test_programs_of_teams_run_beside_the_worker_that_measures_without_any_setting_or_its_files():
    [worker, programs] = pods()["worker-measure"]["containers"]

    assert programs["name"] == PROGRAMS
    assert programs["args"] == shlex.split(compose()[PROGRAMS]["command"])
    assert not {"env", "envFrom"} & set(programs)
    assert programs["securityContext"]["runAsUser"] == 998
    assert "shareProcessNamespace" not in pods()["worker-measure"]
    assert worker["command"] == ["python", "-m", "perfdash.first_process"]
    shared = [one["name"] for one in worker["volumeMounts"] if one["name"] in mounted(programs)]
    assert shared == ["programs"]


def test_nobody_reaches_a_pod_but_the_web_server():
    assert "ingress" not in policies()["incoming"]
    assert policies()["incoming"]["policyTypes"] == ["Ingress"]
    assert (
        policies()["incoming-web"]["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
        == "web"
    )
    assert policies()["incoming-web"]["ingress"] == [
        {"ports": [{"port": "http", "protocol": "TCP"}]}
    ]


def test_every_pod_is_of_one_policy_of_what_it_reaches():
    inside, others = policies()["outgoing-inside"], policies()["outgoing"]
    [chosen], [rest] = (one["podSelector"]["matchExpressions"] for one in (inside, others))

    assert {chosen["operator"], rest["operator"]} == {"In", "NotIn"}
    assert chosen["values"] == rest["values"]
    assert set(chosen["values"]) <= set(WORKLOADS)
    assert {port["port"] for port in inside["egress"][0]["ports"]} == {53, 5432, 6379}
    excepted = [net for to in others["egress"][1]["to"] for net in to["ipBlock"]["except"]]
    assert "169.254.0.0/16" in excepted


@pytest.mark.system
def test_a_service_has_the_secrets_that_it_has_in_compose(tmp_path):
    example = copied(tmp_path)
    kustomization = yaml.safe_load((example / "kustomization.yaml").read_text())
    secrets = {
        one["name"].removeprefix("perfdash-"): one["envs"]
        for one in kustomization["secretGenerator"]
    }

    assert sorted(secrets) == sorted(WORKLOADS)
    for name, files in secrets.items():
        given = set().union(*(named(example / file) for file in files))
        files_in_compose = {
            key.removesuffix("_FILE")
            for key, value in compose()[name]["environment"].items()
            if value.startswith("/run/secrets/")
        }
        assert given == files_in_compose, name
    assert (example / "secrets").stat().st_mode & 0o077 == 0


@pytest.mark.system
def test_the_example_is_built_on_the_base(tmp_path):
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not installed; it has kustomize built in")

    done = subprocess.run(
        [kubectl, "kustomize", copied(tmp_path)], capture_output=True, text=True, check=True
    )

    built = list(yaml.safe_load_all(done.stdout))
    for resource in built:
        kubernetes_validate.validate(resource, VERSIONS[-1], strict=True)
        assert resource["metadata"]["namespace"] == "perfdash"
    settings_of_pods = next(one for one in built if one["kind"] == "ConfigMap")
    assert settings_of_pods["data"]["ALLOWED_HOSTS"] == "perf.example"
    assert settings_of_pods["data"]["PERFDASH_ALIVE_FILE"] == "/tmp/alive"  # noqa: S108
