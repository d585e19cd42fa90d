import { text } from 'node:stream/consumers';

/** Runs a tool: arguments come as JSON on standard input, the answer leaves as JSON on standard output. */
export async function run(tool) {
  try {
    const answer = await tool(JSON.parse(await text(process.stdin)));
    console.log(JSON.stringify(answer));
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
