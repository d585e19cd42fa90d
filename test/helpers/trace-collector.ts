import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { startTracing, type Tracing } from '../../src/actors/telemetry/tracing.ts';
import type { SamplerSettings } from '../../src/actors/telemetry/tracing-settings.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** A span as it arrived. */
export interface CollectedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  kind: number;
  status: 'unset' | 'error';
  attributes: Record<string, unknown>;
  /** Ids of the spans it is linked to. */
  links: string[];
  /** Milliseconds. */
  duration: number;
}

/** One post to the collector. */
export interface CollectedPost {
  path: string;
  headers: Record<string, unknown>;
  resource: Record<string, unknown>;
  spans: CollectedSpan[];
}

/** A span with its children, in the order of their names, and no more than a test compares. */
export interface SpanTree {
  name: string;
  status: CollectedSpan['status'];
  children?: SpanTree[];
}

/** A collector on loopback that takes OTLP over HTTP in JSON. */
export class TraceCollector {
  readonly url: string;
  readonly posts: CollectedPost[] = [];
  /** What it answers. */
  answer = 200;

  constructor(url: string) {
    this.url = url;
  }

  get spans(): CollectedSpan[] {
    return this.posts.flatMap(({ spans }) => spans);
  }

  /** Every span with this name. */
  named(name: string): CollectedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  /** The spans whose parent was not collected, with all their children. */
  trees(): SpanTree[] {
    const known = new Set(this.spans.map(({ spanId }) => spanId));
    return this.#treesOf((span) => span.parentSpanId === null || !known.has(span.parentSpanId));
  }

  #treesOf(isWanted: (span: CollectedSpan) => boolean): SpanTree[] {
    const wanted = this.spans.filter(isWanted);
    return wanted
      .map(({ name, status, spanId }) => {
        const children = this.#treesOf((span) => span.parentSpanId === spanId);
        return { name, status, ...(children.length === 0 ? {} : { children }) };
      })
      .toSorted((one, other) => one.name.localeCompare(other.name));
  }
}

/** Starts a collector that closes when the test ends. */
export async function startCollector(): Promise<TraceCollector> {
  const server = createServer();
  server.on('request', (request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body: unknown = JSON.parse(await text(request));
    const { url: path = '', headers } = request;
    collector.posts.push(...readPost(body).map((post) => ({ ...post, path, headers })));
    response.writeHead(collector.answer, { 'content-type': 'application/json' }).end('{}');
  };
  const collector = new TraceCollector(await listenOnLoopback(server));
  return collector;
}

/** Switches tracing on until the test ends, or until it stops it to have every span delivered. */
export function traceInto(
  { url }: { url: string },
  sampler: SamplerSettings = { followsParent: true, ratio: 1 },
): Tracing & { log: { level: string; message: string; fields: object }[] } {
  const log: { level: string; message: string; fields: object }[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void log.push({ level, message, fields });
  const tracing = startTracing(
    { endpoint: `${url}/v1/traces`, headers: { 'x-key': 'k' }, serviceName: 'till', sampler },
    { version: '0', log: { info: at('info'), warn: at('warn'), error: at('error') } },
  );
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopping ??= tracing.stop());
  onTestFinished(stop);
  return { stop, log };
}

interface OtlpAttribute {
  key: string;
  value: Record<string, unknown>;
}

interface OtlpSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  status: { code: number };
  attributes: OtlpAttribute[];
  links: { spanId: string }[];
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

function readPost(body: unknown): Pick<CollectedPost, 'resource' | 'spans'>[] {
  return (body as OtlpRequest).resourceSpans.map(({ resource, scopeSpans }) => ({
    resource: read(resource.attributes),
    spans: scopeSpans.flatMap(({ spans }) => spans.map(readSpan)),
  }));
}

function readSpan(span: OtlpSpan): CollectedSpan {
  const nanoseconds = BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano);
  return {
    name: span.name,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? null,
    kind: span.kind,
    status: span.status.code === 2 ? 'error' : 'unset',
    attributes: read(span.attributes),
    links: span.links.map(({ spanId }) => spanId),
    duration: Number(nanoseconds / 1_000_000n),
  };
}

function read(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
