import type { A2aLineJson, CardInspectionJson } from '../../http/wire/dashboard/a2a-json.ts';
import { AskError, type AskedAgent, askAgent } from './ask-agent.ts';
import { inspectCard } from './inspect-card.ts';

/** Timeout in milliseconds for an answer, including the stream of a waiting task. */
const patience = 600_000;

/** An agent that the user named, inside or outside the workspace. */
export type A2aTarget = Omit<AskedAgent, 'closedPorts' | 'lookup'>;

/**
 * Sends requests to agents for a user, and only to the named address. Both methods reject with the reason of the
 * signal.
 */
export type A2aInspector = ReturnType<typeof a2aInspector>;

/** Creates the inspector of agents. The dashboard's own port is never requested. */
export function a2aInspector(ownPort: () => number) {
  return {
    /** Fetches and checks the card in every format. */
    card: (target: A2aTarget, signal: AbortSignal): Promise<CardInspectionJson> =>
      inspectCard({ ...target, closedPorts: [ownPort()] }, signal),
    /** Sends one request and streams the response, or reports why there was none. */
    async send(
      target: A2aTarget,
      asked: { method: 'GET' | 'POST'; path: string; version: string; body: string | null },
      tell: (line: A2aLineJson) => Promise<void>,
      signal: AbortSignal,
    ): Promise<void> {
      const begun = performance.now();
      let bytes = 0;
      const { method, path, version, body } = asked;
      const headers = {
        accept: 'application/json, text/event-stream',
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...(version === '' ? {} : { 'A2A-Version': version }),
      };
      try {
        const agent = { ...target, closedPorts: [ownPort()] };
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
