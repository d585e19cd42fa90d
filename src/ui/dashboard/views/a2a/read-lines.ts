import type { A2aLineJson, A2aSendJson } from '../../../../http/wire/dashboard/a2a-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { Dashboard } from '../../start-dashboard.ts';

/** Sends a request through the dashboard and reports each line of the response, including the reason of an abort. */
export async function readLines(
  client: Dashboard['client'],
  request: A2aSendJson,
  tell: (line: A2aLineJson) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    const options = { method: 'POST', body: request, signal } as const;
    const { body } = await client.open('/api/a2a/send', options);
    let rest = '';
    const decoder = new TextDecoder();
    const reader = body?.getReader();
    for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
      const lines = (rest + decoder.decode(part.value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) tell(JSON.parse(line) as A2aLineJson);
    }
  } catch (error) {
    if (!signal.aborted) tell({ problem: sentenceOf(error) });
  }
}
