import { Type } from '@sinclair/typebox'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../people/passwords.ts'
import { name, strict } from '../records/fields.ts'

const token = Type.String({ minLength: 1, maxLength: 200 })

export const PasswordBody = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 320 }),
    password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
    organization: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  },
  strict,
)

export const AcceptBody = Type.Object(
  {
    token,
    password: Type.String({ minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH }),
  },
  strict,
)

export const DeviceBody = Type.Object({ name: name(200) }, strict)
export const DeviceTokenBody = Type.Object({ device_code: token }, { additionalProperties: true })
export const ApproveBody = Type.Object(
  { user_code: Type.String({ minLength: 1, maxLength: 20 }), approve: Type.Boolean() },
  strict,
)
