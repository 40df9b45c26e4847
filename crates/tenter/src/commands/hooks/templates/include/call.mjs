// Returns the input of the call and its working directory. Blocks a call that cannot be read.
function readCall() {
  try {
    const { tool_input: given, work_dir: cwd } = JSON.parse(fs.readFileSync(0, 'utf8'));
    const texts = [given.command, given.file_path, given.path, given.notebook_path].map((text) => text ?? '');
    const isObject = typeof given === 'object' && !Array.isArray(given);
    if (isObject && cwd && [cwd, ...texts].every((text) => typeof text === 'string')) return [given, cwd];
  } catch {
    // Not JSON, or not an object.
  }
  console.error('this hook cannot read the call: `work_dir`, the command and the paths must be strings');
  process.exit(2);
}
