// What counts as a secret. It is searched for in JSON: a line end is `\n` here.
const SECRETS = new RegExp([
  /(AKIA|ASIA)[0-9A-Z]{16}/,
  /gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,}/,
  /sk-[A-Za-z0-9_-]{20,}|AIza[0-9A-Za-z_-]{35}|xox[abeprs]-[A-Za-z0-9-]{10,}|npm_[A-Za-z0-9]{36}/,
  /(aws_secret_access_key|AWS_SECRET_ACCESS_KEY)([ =:]|\\")*[A-Za-z0-9/+]{40}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----([A-Za-z0-9+/=,:. ]|-[A-Za-z0-9]|\\[nrt])*(-----END [A-Z ]*PRIVATE KEY-----)?/,
].map((pattern) => pattern.source).join('|'), 'g');

// The value without secrets.
function redacted(value) {
  return JSON.parse(JSON.stringify(value).replace(SECRETS, '[redacted]'));
}
