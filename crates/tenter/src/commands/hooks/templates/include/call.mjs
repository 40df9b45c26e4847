// The input of the call, and the directory that it runs in. A call that cannot be read does not run.
function readCall() {
  try {
    const { tool_input: given, work_dir: cwd } = JSON.parse(fs.readFileSync(0, 'utf8'));
    const texts = [given.command, given.file_path, given.path, given.notebook_path].map((text) => text ?? '');
    const isObject = typeof given === 'object' && !Array.isArray(given);
    if (isObject && cwd && [cwd, ...texts].every((text) => typeof text === 'string')) return [given, cwd];
  } catch {
    // It is not JSON, or not an object.
  }
  console.error('this hook cannot read the call: it needs `work_dir`, and an input whose command and paths are texts');
  process.exit(2);
}
