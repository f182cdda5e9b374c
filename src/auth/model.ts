import { Type } from '@sinclair/typebox'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../people/passwords.ts'
import { closed, name } from '../records/fields.ts'

const token = Type.String({ minLength: 1, maxLength: 200 })

export const PasswordBody = closed({
  email: Type.String({ minLength: 1, maxLength: 320 }),
  password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
  organization: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
})

export const AcceptBody = closed({
  token,
  password: Type.String({ minLength: MIN_PASSWORD_LENGTH, maxLength: MAX_PASSWORD_LENGTH }),
})

export const DeviceBody = closed({ name: name(200) })
export const DeviceTokenBody = Type.Object({ device_code: token }, { additionalProperties: true })
export const ApproveBody = closed({
  user_code: Type.String({ minLength: 1, maxLength: 20 }),
  approve: Type.Boolean(),
})
