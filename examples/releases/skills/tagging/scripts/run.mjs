import { text } from 'node:stream/consumers';

/** Runs a tool: arguments come as JSON on standard input, the answer leaves as JSON on standard output. */
export async function run(tool) {
  try {
    console.log(JSON.stringify(await tool(JSON.parse(await text(process.stdin)))));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
