import { Type } from '@sinclair/typebox'
import { SLUG } from '../../accounts/organizations/queries.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../accounts/people/passwords.ts'
import {
  closed,
  component,
  Flag,
  Integer,
  literals,
  name,
  nullable,
  Text,
  Timestamp,
  TimeZone,
} from '../../analysis/records/fields.ts'
import { ErrorBody } from '../../http/query.ts'

const token = Type.String({ minLength: 1, maxLength: 200, examples: ['Xb3…'] })
const email = Type.String({ minLength: 1, maxLength: 320, examples: ['ada@example.com'] })
const newPassword = Type.String({
  minLength: MIN_PASSWORD_LENGTH,
  maxLength: MAX_PASSWORD_LENGTH,
  examples: ['correct horse battery staple'],
})
const deviceCode = Type.String({ minLength: 1, maxLength: 200, examples: ['dev_8Vq…'] })

export const PasswordBody = component('PasswordSignIn', {
  email,
  password: Type.String({
    minLength: 1,
    maxLength: MAX_PASSWORD_LENGTH,
    examples: ['correct horse battery staple'],
  }),
  organization: Type.Optional(
    Type.String({ minLength: 1, maxLength: 63, description: 'Slug, of several', examples: ['demo'] }),
  ),
})
export const Organizations = component('SignInOrganizations', {
  organizations: Type.Array(closed({ slug: Type.String({ examples: ['demo'] }), name: Type.String() }), {
    description: 'Those of which one has to be named by `organization`',
  }),
})
export const Methods = component('SignInMethods', {
  password: Type.Boolean(),
  oidc: Type.Boolean(),
  setup: Flag('Whether there is no organization yet: POST /auth/setup makes it'),
})

export const AcceptBody = component('InvitationAcceptance', {
  token,
  password: newPassword,
})

export const SetupBody = component('Setup', {
  token,
  organization: closed({
    name: Type.String({ minLength: 1, maxLength: 200, examples: ['Demo'] }),
    slug: Type.Optional(
      Type.String({ pattern: SLUG.source, description: 'Made of the name unless given', examples: ['demo'] }),
    ),
    time_zone: Type.Optional(TimeZone),
  }),
  display_name: name(200),
  email: Type.String({ format: 'email', maxLength: 320, examples: ['ada@example.com'] }),
  password: newPassword,
})

export const DeviceBody = component('DeviceRequest', {
  name: Type.String({ minLength: 1, maxLength: 200, examples: ['ada-macbook.local'] }),
})
export const Device = component('Device', {
  device_code: deviceCode,
  user_code: Type.String({ examples: ['BCDF-GHJK'] }),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Integer('Seconds'),
  interval: Integer('Seconds between two requests for the key, at least'),
})

export const WaitingQuery = Type.Object({
  user_code: Type.Optional(Text('The code that the machine shows', 'BCDF-GHJK')),
})
export const Waiting = component('WaitingDevice', {
  name: Type.String(),
  ip_address: nullable(Type.String()),
  requested_at: Timestamp('UTC, milliseconds'),
})

export const DeviceTokenBody = Type.Object(
  { device_code: deviceCode },
  { title: 'DeviceTokenRequest', additionalProperties: true },
)
export const DeviceKey = component('DeviceKey', {
  key: Type.String({ examples: ['ca_live_…'] }),
  organization: closed({ id: Type.String(), slug: Type.String(), name: Type.String() }),
  member: closed({ id: Type.String(), email }),
})
/** RFC 8628 names errors by words. */
export const DeviceError = component('DeviceError', {
  error: literals(['authorization_pending', 'slow_down', 'access_denied', 'expired_token']),
})
export const DeviceProblem = Type.Union([DeviceError, ErrorBody], {
  title: 'DeviceProblem',
  description: 'No key yet, or none at all',
})

export const ApproveBody = component('DeviceDecision', {
  user_code: Type.String({ minLength: 1, maxLength: 20, examples: ['BCDF-GHJK'] }),
  approve: Type.Boolean(),
})
