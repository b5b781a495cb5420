//! `auth` of a change. What is null is kept, but for `expires_at` and `scope`, which it clears.
use super::secret::{self, METHODS};
use super::{Kind, KINDS};
use crate::vault::{ClientMethod, ClientRotation, OauthRotation, RefreshRotation, Rotation};
use crate::wire::error::ApiError;
use crate::wire::fields::Fields;

pub(super) fn read(mut fields: Fields) -> Result<Rotation, ApiError> {
    let rotation = match fields.required_one_of("type", &KINDS)? {
        Kind::McpOauth => Rotation::McpOauth(OauthRotation {
            access_token: secret::optional(&mut fields, "access_token", secret::token)?,
            expires_at: if_there(&mut fields, "expires_at", secret::instant)?,
            refresh: fields.object("refresh")?.map(refresh).transpose()?,
        }),
        Kind::StaticBearer => Rotation::StaticBearer {
            token: secret::required(&mut fields, "token", secret::token)?,
        },
        Kind::EnvironmentVariable => Rotation::EnvironmentVariable {
            value: secret::required(&mut fields, "secret_value", secret::variable)?,
        },
    };
    fields.finish()?;
    Ok(rotation)
}

fn refresh(mut fields: Fields) -> Result<RefreshRotation, ApiError> {
    let changes = RefreshRotation {
        refresh_token: secret::optional(&mut fields, "refresh_token", secret::form_secret)?,
        scope: if_there(&mut fields, "scope", secret::optional_text)?,
        client: fields
            .object("token_endpoint_auth")?
            .map(client)
            .transpose()?,
    };
    fields.finish()?;
    Ok(changes)
}

fn client(mut fields: Fields) -> Result<ClientRotation, ApiError> {
    let method = fields.required_one_of("type", &METHODS)?;
    let secret = match method {
        ClientMethod::None => None,
        ClientMethod::Basic | ClientMethod::Post => {
            secret::optional(&mut fields, "client_secret", secret::form_secret)?
        }
    };
    fields.finish()?;
    Ok(ClientRotation { method, secret })
}

/// What a member says, be it null, if it is there.
fn if_there<T>(
    fields: &mut Fields,
    name: &str,
    read: fn(&mut Fields, &str) -> Result<T, ApiError>,
) -> Result<Option<T>, ApiError> {
    if fields.has(name) {
        read(fields, name).map(Some)
    } else {
        Ok(None)
    }
}
