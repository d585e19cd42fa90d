import { isLoopbackUrl } from '../../machines/loopback.ts';
import { providerAddress, providerKey } from '../providers/providers.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Model = ServiceConfig['model'];
type Reach = Model | Model['fallbacks'][number];

/** Checks that every model of the chain is usable: it has a name, a base URL and a key (docs/contract/models.md). */
export function checkModel({ model }: ServiceConfig, env: Env): Finding[] {
  const path = ['model'];
  if (model.provider === 'scripted') return scriptedFindings(model);
  return [
    ...realFindings(model),
    ...checkReach(model, path, env),
    ...model.fallbacks.flatMap((fallback, index) => {
      const place = [...path, 'fallbacks', index];
      return fallback.provider === 'scripted'
        ? [errorAt([...place, 'provider'], 'scripted cannot be a fallback; name a provider')]
        : checkReach(fallback, place, env);
    }),
  ];
}

function scriptedFindings({ fallbacks }: Model): Finding[] {
  const unused =
    'a script never fails, so its fallbacks are never used; remove them or set a provider';
  return fallbacks.length === 0 ? [] : [warningAt(['model', 'fallbacks'], unused)];
}

function realFindings({ provider, name, script }: Model): Finding[] {
  const unnamed = `${provider} needs the name of a model; write it as model.name`;
  const unplayed = `the script is played by the provider scripted alone, not by ${provider}; remove it`;
  return [
    ...(name === 'demo' ? [errorAt(['model', 'provider'], unnamed)] : []),
    ...(script.length === 0 ? [] : [warningAt(['model', 'script'], unplayed)]),
  ];
}

function checkReach(reach: Reach, path: Path, env: Env): Finding[] {
  const { provider, api_key_env } = reach;
  if (provider === 'scripted') return [];
  const key = providerKey({ provider, api_key_env, purpose: 'the model' }, env);
  const place = api_key_env === undefined ? 'provider' : 'api_key_env';
  return [
    ...checkAddress(reach, [...path, 'base_url'], [...path, 'provider']),
    ...(key.ok ? [] : [errorAt([...path, place], key.message)]),
    ...unusedSettings(reach, path),
  ];
}

function unusedSettings({ provider, organization_id, api }: Reach, path: Path): Finding[] {
  if (provider === 'openai') return [];
  const used = 'is used by openai alone; remove it';
  return [
    ...(organization_id === ''
      ? []
      : [warningAt([...path, 'organization_id'], `organization_id ${used}`)]),
    ...(api === undefined ? [] : [warningAt([...path, 'api'], `api ${used}`)]),
  ];
}

function checkAddress({ provider, base_url }: Reach, path: Path, named: Path): Finding[] {
  const address = providerAddress(provider, base_url);
  if (address === null) {
    const message =
      'openai-compatible needs base_url; write the address of its server, such as http://127.0.0.1:8000/v1';
    return [errorAt(named, message)];
  }
  if (base_url === '') return [];
  const url = URL.parse(base_url);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    const message = 'base_url is not a URL; write one such as https://models.example.com/v1';
    return [errorAt(path, message)];
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    const message =
      'base_url must hold neither credentials nor a query nor a fragment; put the key into a variable and name it in api_key_env';
    return [errorAt(path, message)];
  }
  if (url.protocol === 'https:' || isLoopbackUrl(url)) return [];
  const message = 'base_url sends messages and the key in clear text to another machine; use https';
  return [warningAt(path, message)];
}
