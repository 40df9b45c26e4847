// Patterns of secrets. They are applied to JSON, in which a newline is `\n`.
const BEGIN = '-----BEGIN [A-Z ]*PRIVATE KEY-----';
const BODY = String.raw`[A-Za-z0-9+/=,:. ]|-[A-Za-z0-9]|\\[nrt]`;
const BETWEEN = String.raw`"[^":\\]{0,12}("[A-Za-z_]+":[^"\\]{0,16})*"`;
const SECRETS = new RegExp([
  /(AKIA|ASIA)[0-9A-Z]{16}/,
  /gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}/,
  /sk-[A-Za-z0-9_-]{20,}|AIza[0-9A-Za-z_-]{35}|xox[abeprs]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{36}/,
  /(aws_secret_access_key|AWS_SECRET_ACCESS_KEY)([ =:]|\\")*[A-Za-z0-9/+]{40}/,
].map((pattern) => pattern.source).concat(
  // A private key, also with each line in a string of its own; and a truncated private key.
  `${BEGIN}(${BODY}|${BETWEEN})*-----END [A-Z ]*PRIVATE KEY-----`,
  `${BEGIN}(${BODY})*`,
).join('|'), 'g');

// Returns the value without secrets.
function redacted(value) {
  return JSON.parse(JSON.stringify(value).replace(SECRETS, '[redacted]'));
}
