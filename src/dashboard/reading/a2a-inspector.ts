import type { A2aLineJson } from '../../http/wire/dashboard/a2a-json.ts';
import type { A2aInspector } from '../routes/dashboard-ports.ts';
import { AskError, askAgent } from './ask-agent.ts';
import { inspectCard } from './inspect-card.ts';

/** Timeout in milliseconds for an answer, including the stream of a waiting task. */
const patience = 600_000;

/** Sends requests to other agents for the dashboard. The dashboard's own ports are never requested. */
export function a2aInspector(ownPort: () => number): A2aInspector {
  return {
    card: ({ url, token, mayBeLoopback }, signal) =>
      inspectCard({ url, token, mayBeLoopback, closedPorts: [ownPort()] }, signal),
    async send({ url, token, mayBeLoopback }, asked, tell, signal) {
      const begun = performance.now();
      let bytes = 0;
      const { method, path, version, body } = asked;
      const headers = {
        accept: 'application/json, text/event-stream',
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...(version === '' ? {} : { 'A2A-Version': version }),
      };
      try {
        const agent = { url, token, mayBeLoopback, closedPorts: [ownPort()] };
        const call = { method, path, headers, body, signal, patience };
        await askAgent(agent, call, async (answer) => {
          await tell({ status: answer.status, headers: answer.headers });
          const decoder = new TextDecoder();
          for await (const part of answer.body) {
            bytes += part.length;
            const text = decoder.decode(part, { stream: true });
            if (text !== '') await tell({ text });
          }
        });
        await tell({ end: { bytes, ms: Math.round(performance.now() - begun) } });
      } catch (error) {
        if (!(error instanceof AskError)) throw error;
        await tell({ problem: error.message } satisfies A2aLineJson);
      }
    },
  };
}
