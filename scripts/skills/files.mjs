import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';

const root = realpathSync(process.env.SERVICE_AGENT_DIR ?? '.');

/** What configures an agent, and what is hidden, as its state and its keys are: also where no sandbox hides them. */
const closed = /^(?:\..*|service\.ya?ml|[a-z]+-config\.ya?ml)$/i;

/**
 * Resolves a path inside the agent's folder, links included. Throws for one that leads elsewhere, to nothing, or to what
 * configures the agent or is hidden.
 */
export function insideAgent(path) {
  let real;
  try {
    real = realpathSync(resolve(root, path));
  } catch {
    throw new Error(`there is no ${path} in the folder of the agent`);
  }
  const way = relative(root, real);
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) {
    throw new Error(`${path} is not in the folder of the agent`);
  }
  if (way.split(sep).some((name) => closed.test(name))) {
    throw new Error(`${path} is hidden or configures the agent, which no tool reads`);
  }
  return real;
}

/** Reads a file inside the agent's folder as text, which may have so many bytes. */
export function readText(path, longest) {
  const file = openSync(insideAgent(path), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new Error(`${path} is no file`);
    if (stat.size > longest) {
      throw new Error(`${path} is larger than ${Math.floor(longest / 1024)} KiB`);
    }
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
