# Patterns of secrets. They are applied to JSON, in which a newline is `\n`.
SECRETS='(AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}'
SECRETS+='|sk-[A-Za-z0-9_-]{20,}|AIza[0-9A-Za-z_-]{35}|xox[abeprs]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{36}'
SECRETS+='|(aws_secret_access_key|AWS_SECRET_ACCESS_KEY)([ =:]|\\")*[A-Za-z0-9/+]{40}'
# A private key, also with each line in a string of its own; and a truncated private key.
BEGIN='-----BEGIN [A-Z ]*PRIVATE KEY-----'
BODY='[A-Za-z0-9+/=,:. ]|-[A-Za-z0-9]|\\[nrt]'
SECRETS+="|$BEGIN($BODY"'|"[^":\\]{0,12}("[A-Za-z_]+":[^"\\]{0,16})*")*-----END [A-Z ]*PRIVATE KEY-----'
SECRETS+="|$BEGIN($BODY)*"

# redacted JSON: prints the JSON without secrets.
redacted() {
    printf '%s\n' "$1" | LC_ALL=C sed -E "s~$SECRETS~[redacted]~g"
}
