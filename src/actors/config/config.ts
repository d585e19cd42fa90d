// Configuration: reads and validates `service.yaml` and its channel files together.

export { dashboardProvider, providerOfIssuer } from './check-approvals.ts';
export { usualUrlVariable } from './check-store-settings.ts';
export { type ConfigProblem, formatProblem } from './config-problem.ts';
export { decisionPage } from './decision-page.ts';
export { editorSchema, filesWithSchema, schemaName } from './editor-schema.ts';
export { digestOf, includeReader, includeUrl, keptPolicyPath } from './include-reader.ts';
export { loadConfig } from './load-config.ts';
export { opensLoopback } from './opens-loopback.ts';
export { type ConfigReading, type PlacedPolicy, parseConfig } from './parse-config.ts';
export { readChannelFiles } from './read-channel-files.ts';
export { dashboardFile, isPageOrigin, readDashboard } from './read-dashboard.ts';
export { peopleFile, readPeople, unknownApprovers, unknownViewers } from './read-people.ts';
export { readSection } from './read-section.ts';
export type { OidcSettings } from './schema-auth.ts';
export { channelSchemas, configuredAdapters } from './schema-channels.ts';
export type { DashboardSettings } from './schema-dashboard.ts';
export type { IncludedPolicy, ServiceConfig } from './service-schema.ts';
export { resolveStaticToken } from './static-token.ts';
export {
  askedBy,
  askingRules,
  denialsOfTool,
  holdingRules,
  placedDenials,
  placedEffects,
  placedLimits,
  placedRules,
  ruleNamesOf,
  rulesOfTool,
  sourcesOfRules,
} from './tool-rules.ts';
