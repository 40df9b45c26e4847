# Patterns of secrets. They are applied to JSON, in which a newline is `\n`.
BEGIN = "-----BEGIN [A-Z ]*PRIVATE KEY-----"
BODY = r"[A-Za-z0-9+/=,:. ]|-[A-Za-z0-9]|\\[nrt]"
SECRETS = re.compile("|".join([
    r"(AKIA|ASIA)[0-9A-Z]{16}",
    r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}",
    r"sk-[A-Za-z0-9_-]{20,}|AIza[0-9A-Za-z_-]{35}|xox[abeprs]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{36}",
    r'(aws_secret_access_key|AWS_SECRET_ACCESS_KEY)([ =:]|\\")*[A-Za-z0-9/+]{40}',
    # A private key, also with each line in a string of its own; and a truncated private key.
    BEGIN + "(" + BODY + r'|"[^":\\]{0,12}("[A-Za-z_]+":[^"\\]{0,16})*")*-----END [A-Z ]*PRIVATE KEY-----',
    BEGIN + "(" + BODY + ")*",
]))


def redacted(value):
    """Returns the value without secrets."""
    return json.loads(SECRETS.sub("[redacted]", json.dumps(value, ensure_ascii=False)))
