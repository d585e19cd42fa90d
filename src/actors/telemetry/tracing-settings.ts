import { nearestName } from '../nearest-name.ts';

/** `observability.tracing` of `service.yaml` (docs/contract/configuration.md). */
export interface TracingConfig {
  enabled: boolean;
  endpoint: string;
  service_name: string;
  sampler: string;
}

/** Recording and destination of spans. */
export interface TracingSettings {
  /** Endpoint for OTLP over HTTP, in JSON. */
  endpoint: string;
  /** Headers of every request, such as the key of a hosted collector; may contain secrets. */
  headers: Record<string, string>;
  serviceName: string;
  sampler: SamplerSettings;
}

/** Selects the traces to record. */
export interface SamplerSettings {
  /** True follows the caller's sampling decision, if there is one. */
  followsParent: boolean;
  /** Fraction of traces recorded that start here, from 0 to 1. */
  ratio: number;
}

/** OpenTelemetry's sampler names; those that end in `ratio` take an argument, as in `traceidratio:0.1`. */
const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Default collector on this machine. */
const localCollector = 'http://localhost:4318';

const signalPath = 'v1/traces';

type Environment = Readonly<Record<string, string | undefined>>;

/** Invalid tracing settings; `key` is the faulty key of `observability.tracing`. */
export class TracingSettingsError extends Error {
  readonly code = 'tracing_settings_invalid';
  readonly key: 'endpoint' | 'sampler';

  constructor(key: 'endpoint' | 'sampler', message: string) {
    super(message);
    this.key = key;
  }
}

/**
 * Reads the tracing settings. Values missing in `service.yaml` come from OpenTelemetry's variables. Throws
 * TracingSettingsError.
 */
export function readTracing(
  config: TracingConfig,
  { agentId, env }: { agentId: string; env: Environment },
): TracingSettings {
  return {
    endpoint: readEndpoint(config.endpoint, env),
    headers: readHeaders(
      env['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] ?? env['OTEL_EXPORTER_OTLP_HEADERS'] ?? '',
    ),
    serviceName: config.service_name || env['OTEL_SERVICE_NAME'] || agentId,
    sampler: readSampler(config.sampler),
  };
}

/** Parses a sampler name with its optional ratio. Throws TracingSettingsError. */
export function readSampler(text: string): SamplerSettings {
  const [name = '', argument, ...more] = text.split(':');
  if (!isSampler(name)) throw unknownSampler(name);
  const kind = name.replace(/^parentbased_/, '');
  const takesRatio = kind === 'traceidratio';
  if (more.length > 0 || (argument !== undefined && !takesRatio)) {
    throw new TracingSettingsError('sampler', `${name} takes no ratio; write ${name} alone`);
  }
  return {
    followsParent: name !== kind,
    ratio: takesRatio ? readRatio(argument) : Number(kind === 'always_on'),
  };
}

function readRatio(argument = '1'): number {
  const ratio = argument.trim() === '' ? Number.NaN : Number(argument);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new TracingSettingsError(
    'sampler',
    'the ratio of a sampler is a number from 0 to 1, such as traceidratio:0.1',
  );
}

function readEndpoint(configured: string, env: Environment): string {
  const whole = configured || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || localCollector;
  const url = URL.parse(whole || `${base.replace(/\/+$/, '')}/${signalPath}`);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TracingSettingsError(
      'endpoint',
      'the endpoint is no http or https URL; write one such as http://localhost:4318/v1/traces',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw new TracingSettingsError(
      'endpoint',
      'the endpoint holds a user name or a password; take it out and set OTEL_EXPORTER_OTLP_HEADERS',
    );
  }
  // A collector URL without a path gets the default path.
  if (url.pathname === '/') url.pathname = `/${signalPath}`;
  return url.href;
}

/** Parses comma-separated `name=value` pairs with percent-encoded values; invalid pairs are skipped. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), decode(value)]];
  });
  return Object.fromEntries(pairs) as Record<string, string>;
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function isSampler(name: string): name is (typeof samplerNames)[number] {
  return (samplerNames as readonly string[]).includes(name);
}

function unknownSampler(name: string): TracingSettingsError {
  const near = nearestName(name, samplerNames);
  const hint = near === null ? '' : ` (did you mean ${near}?)`;
  return new TracingSettingsError(
    'sampler',
    `there is no such sampler${hint}; choose one of ${samplerNames.join(', ')}`,
  );
}
