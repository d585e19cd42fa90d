import { text } from 'node:stream/consumers';

/** Runs a tool: arguments come as JSON on standard input, the answer leaves as JSON on standard output. */
export async function run(tool) {
  try {
    console.log(JSON.stringify(await tool(JSON.parse(await text(process.stdin)))));
  } catch (error) {
    // One line, for any content of the answer.
    console.error(String(error.message).replaceAll(/\s+/g, ' ').slice(0, 500));
    process.exitCode = 1;
  }
}

/** Reads a variable that must be set. */
export function variable(name) {
  const value = process.env[name] ?? '';
  if (value === '') throw new Error(`${name} is not set; set it and start the agent again`);
  return value;
}
