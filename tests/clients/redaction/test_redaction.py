"""What is hidden as a secret before anything is kept, wherever it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_client.redaction import secret_assignments
from toolwire_client.redaction.command_words import hide_in_command
from toolwire_client.redaction.redactor import HIDDEN, Redactor
from toolwire_client.redaction.secret_names import PART, may_name_secret

SECRET = "s3cr3tVALUE"

# Of which part of a text is left depends on the form; the secret never is.
PLANTED = [
    "--api-key SECRET",
    "--token=SECRET",
    "-p SECRET",
    "X-Api-Key: SECRET",
    "pwd=SECRET",
    "mysecret = SECRET",
    "Server=a;Password=SECRET;Database=b",
    "Password=two words SECRET;Database=b",
    "curl -u a:SECRET http://localhost",
    "curl -ua:SECRET http://localhost",
    "curl --user=a:SECRET",
    "Authorization: Custom SECRET",
    "Authorization=Basic SECRET",
    "Cookie: a=b; sid=SECRET",
    "<password>SECRET</password>",
    "https://localhost/x?api_key=SECRET&a=b",
    "postgres://me:SECRET@localhost/db",
    "password: two words SECRET\nnext: line",
    "export API_TOKEN='SECRET'",
    "os.environ['API_KEY'] = 'SECRET'",
    'password: str = "SECRET"',
    "key: token: SECRET",
    '"tokens": ["", "SECRET"]',
    'log: {"a": ["--pwd", "SECRET"], "b": null}',
    "PASSWORD 'SECRET'",
    "密码: SECRET",
    "aws_secret_access_key = abcSECRET==",
    "password: ab\\SECRET",
    "password=ab,SECRET",
    "redis-cli -h host -a SECRET ping",
    "/usr/bin/redis-cli -a 'SECRET'",
    "mysql -u root -pSECRET database",
    "mysqldump -pSECRET database",
    "sshpass -p SECRET ssh host",
    "sshpass -pSECRET ssh host",
    "ldapsearch -D cn=admin -w SECRET",
    "zip -P SECRET archive.zip file",
    "cd x && 7z x -pSECRET archive.7z",
]


@pytest.mark.parametrize("text", PLANTED)
def test_a_value_assigned_to_the_name_of_a_secret_is_hidden_in_texts(text: str) -> None:
    redactor = Redactor({})
    planted = text.replace("SECRET", SECRET)
    for depth in range(3):
        hidden = redactor.redact_text(planted)
        assert SECRET not in hidden, depth
        assert HIDDEN in hidden, depth
        assert redactor.redact_text(hidden) == hidden, depth
        planted = json.dumps({"text": planted})


@pytest.mark.parametrize(
    "text",
    [
        "the author: Goethe",
        "keyboard: qwertz",
        "compass=north; passage=long",
        "token = lexer.next()",
        "max_tokens=4096",
        '{"key": 5, "password": null, "token": true}',
        "docker run -p 8080:80 -u 1000:1000 image",
        "see http://auth.example.com/path",
        'password: ""',
        "authority=example, monkey=banana",
        '{"progressToken": "abcdefgh"}',
        "ls -a directory; grep -w word file",
        "redis-cli ping\nls -a directory",
        "mysql -h localhost -P 3306",
    ],
)
def test_texts_that_only_look_like_assignments_of_secrets_stay(text: str) -> None:
    assert Redactor({}).redact_text(text) == text


class CountedRun:
    """Stands for the expression that finds the end of a value, and counts what it reads."""

    def __init__(self) -> None:
        self.read = 0
        self._real = secret_assignments._RUN

    def match(self, text: str, start: int) -> Any:
        found = self._real.match(text, start)
        self.read += 1 if found is None else found.end() - start
        return found


@pytest.mark.parametrize(
    "piece", ["key=(", "token:f(", "a-key:", "key://a", "key=null(key=", "key=a)", "my_token=a;"]
)
def test_a_long_text_of_values_within_values_is_read_once(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = CountedRun()
    monkeypatch.setattr(secret_assignments, "_RUN", counted)
    text = "[" + piece * 2000

    secret_assignments.hide_assignments(text)

    assert counted.read <= len(text)


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        ({"password": 1234, "max_tokens": 5}, {"password": HIDDEN, "max_tokens": 5}),
        ({"auth": {"user": "a", "more": [SECRET]}}, {"auth": {"user": HIDDEN, "more": [HIDDEN]}}),
        ({"name": "X-Api-Key", "value": SECRET}, {"name": "X-Api-Key", "value": HIDDEN}),
        ({"key": "DB_PASS", "value": SECRET}, {"key": "DB_PASS", "value": HIDDEN}),
        ([["X-Api-Key", SECRET]], [["X-Api-Key", HIDDEN]]),
        (["run", "-p", SECRET, "--api-key", SECRET], ["run", "-p", HIDDEN, "--api-key", HIDDEN]),
        (["curl", "-u", f"a:{SECRET}"], ["curl", "-u", f"a:{HIDDEN}"]),
        (["/usr/bin/redis-cli", "-a", SECRET], ["/usr/bin/redis-cli", "-a", HIDDEN]),
        (["mysql", f"-p{SECRET}", "db"], ["mysql", f"-p{HIDDEN}", "db"]),
        (["sshpass", f"-p{SECRET}", "ssh"], ["sshpass", f"-p{HIDDEN}", "ssh"]),
        (["ls", "-a", "directory"], ["ls", "-a", "directory"]),
        (
            {"required": ["token", "id"], "progressToken": 7},
            {"required": ["token", "id"], "progressToken": 7},
        ),
        (
            {
                "properties": {
                    "password": {"type": "string", "default": SECRET, "description": "the password"}
                }
            },
            {
                "properties": {
                    "password": {"type": "string", "default": HIDDEN, "description": "the password"}
                }
            },
        ),
    ],
)
def test_secrets_in_members_and_lists_are_hidden(value: Any, hidden: Any) -> None:
    assert Redactor({}).redact_value(value) == hidden


ENVIRON = {
    "DB_PASS": "rose",
    "API_KEY_2": "second key",
    "MY_SETTING": "some setting",
    "HOME": "/home/ada",
    "DATA": "/srv/data",
    "TZ": "Europe/Berlin",
}


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a rose in the rosegarden", f"a {HIDDEN} in the rosegarden"),
        ("second key, second%20key, second+key", f"{HIDDEN}, {HIDDEN}, {HIDDEN}"),
        ("some setting", HIDDEN),
        ("/home/ada and /srv/data in Europe/Berlin", "/home/ada and /srv/data in Europe/Berlin"),
    ],
)
def test_what_a_server_was_given_in_its_environment_is_hidden_in_texts(
    text: str, hidden: str
) -> None:
    assert Redactor(ENVIRON, hides_all=True).redact_text(text) == hidden


def test_a_value_without_the_name_of_a_secret_is_hidden_for_recordings_alone() -> None:
    assert Redactor(ENVIRON).redact_text("rose, some setting") == f"{HIDDEN}, some setting"


@pytest.mark.parametrize(
    ("command", "hidden"),
    [
        ("npx -y some-server --api-key S", "npx -y some-server --api-key [hidden]"),
        ("npx -y some-server -y S", "npx -y some-server -y [hidden]"),
        ("server --token=S -pS -v S", "server --token=[hidden] -p[hidden] -v [hidden]"),
        ("env API_KEY=S /bin/server", "env API_KEY=[hidden] /bin/server"),
        (
            "docker run -i --rm -e K=S image -t S",
            "docker run -i --rm -e [hidden] image -t [hidden]",
        ),
        ("python3.12 -m some.server file.db", "python3.12 -m some.server file.db"),
        ("mcp-remote https://a:S@host/s/S/mcp?x=S", "mcp-remote https://host/[hidden]"),
        ("server -- --key S", "server -- --key [hidden]"),
        ("server --flag", "server --flag"),
    ],
)
def test_a_command_is_kept_without_the_values_of_its_options(command: str, hidden: str) -> None:
    assert hide_in_command(command.replace("S", SECRET).split(), Redactor({})) == hidden.split()


# --- for any secret, in any place ---

PARTS = ["pwd", "pass", "password", "secret", "token", "key", "auth"]
NAMES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "my_", "db-", "x-", "API_", "client"]),
    st.sampled_from([*PARTS, *map(str.title, PARTS), *map(str.upper, PARTS)]),
    st.sampled_from(["", "_2", "Value", "-id"]),
).filter(lambda name: name.lower() != "keyvalue")
# Characters at which no form of text ends, and a mark that no other text of an example has.
SECRETS = st.text("abcXYZ0189+/_.~@$%^*#", max_size=12).map(lambda text: f"q7{text}Zq")
NEIGHBOURS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=4,
)
FORMS = st.sampled_from(
    [
        lambda name, secret: {name: secret},
        lambda name, secret: {name: [secret]},
        lambda name, secret: {name: {"a": secret}},
        lambda name, secret: {"name": name, "value": secret},
        lambda name, secret: [f"--{name}", secret],
        lambda name, secret: f"--{name} {secret}",
        lambda name, secret: f"--{name}={secret}",
        lambda name, secret: f"{name}: {secret}",
        lambda name, secret: f"a=b;{name}={secret};c=d",
        lambda name, secret: f"export {name}='{secret}'",
        lambda name, secret: f"-H 'X-{name}: {secret}'",
        lambda name, secret: f"https://localhost/?a=b&{name}={secret}",
        lambda name, secret: f"<{name}>{secret}</{name}>",
        lambda name, secret: f"curl -u {name}:{secret}",
        lambda name, secret: f"mysql -p {secret}",
    ]
)
WRAPPINGS = st.lists(
    st.sampled_from(
        [
            lambda value, other: [other, value],
            lambda value, other: {"a": value, "b": other},
            lambda value, other: json.dumps([value, other]),
            lambda value, other: "log: " + json.dumps({"a": value, "b": other}),
        ]
    ),
    max_size=3,
)


@given(NAMES, SECRETS, FORMS, WRAPPINGS, NEIGHBOURS)
def test_a_secret_is_hidden_wherever_it_is_planted(
    name: str, secret: str, form: Any, wrappings: list[Any], neighbour: Any
) -> None:
    value = form(name, secret)
    for wrap in wrappings:
        value = wrap(value, neighbour)
    hidden = Redactor({}).redact_value(value)
    assert secret not in json.dumps(hidden, ensure_ascii=False)


@given(st.from_regex(f"(?i){PART}"))
def test_no_text_with_the_name_of_a_secret_is_skipped(text: str) -> None:
    assert may_name_secret(text)
