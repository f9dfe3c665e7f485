#pragma once
// The door to OpenSSL 3: DTLS in memory, certificates, exported keys.
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/time.h>

static inline EVP_PKEY *shim_generate_p256(void) { return EVP_EC_gen("P-256"); }

// DTLS 1.2 alone; no renegotiation, tickets, compression or path MTU questions; the server chooses the cipher.
static inline int shim_configure_dtls12(SSL_CTX *context) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION |
                     SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1);
    return SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION) == 1 &&
           SSL_CTX_set_max_proto_version(context, DTLS1_2_VERSION) == 1 &&
           SSL_CTX_set1_groups_list(context, "P-256:X25519:P-384") == 1;
}

static inline long shim_set_mtu(SSL *ssl, long mtu) { return SSL_set_mtu(ssl, mtu); }
static inline int shim_set_app_data(SSL *ssl, void *data) { return SSL_set_app_data(ssl, data); }
static inline void *shim_get_app_data(SSL *ssl) { return SSL_get_app_data(ssl); }
static inline long shim_handle_timeout(SSL *ssl) { return DTLSv1_handle_timeout(ssl); }

// Microseconds until the retransmission timer is due, -1 if it does not run.
static inline int64_t shim_timeout_us(SSL *ssl) {
    struct timeval left;
    if (DTLSv1_get_timeout(ssl, &left) != 1) return -1;
    return (int64_t)left.tv_sec * 1000000 + left.tv_usec;
}

static inline SSL *shim_verifying_connection(X509_STORE_CTX *store) {
    return (SSL *)X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
}

static inline void shim_clear_retry(BIO *bio) { BIO_clear_retry_flags(bio); }
static inline void shim_retry_read(BIO *bio) { BIO_set_retry_read(bio); }
