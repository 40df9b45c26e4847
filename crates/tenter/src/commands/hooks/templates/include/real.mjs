// Like realpath, but the path need not exist. Symlinks are resolved before `..`.
function real(path) {
  let [done, links] = ['', 0];
  const parts = path.split('/').reverse();
  while (parts.length > 0) {
    const part = parts.pop();
    if (part === '' || part === '.') continue;
    if (part === '..') {
      done = done.slice(0, Math.max(done.lastIndexOf('/'), 0));
      continue;
    }
    let link = null;
    try {
      link = fs.readlinkSync(`${done}/${part}`);
    } catch {
      // Not a symlink, or it does not exist.
    }
    if (link === null) {
      done = `${done}/${part}`;
      continue;
    }
    if (++links > 40) throw new Error(`too many symlinks: ${path}`);
    if (link.startsWith('/')) done = '';
    parts.push(...link.split('/').reverse());
  }
  return done || '/';
}
