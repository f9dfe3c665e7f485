#pragma once
// The door to the Linux socket calls that Glibc's Swift module leaves out. The twins below speak one flat address type, give
// a negative errno for a failure, and allocate nothing.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

// An IPv4 (first four bytes) or IPv6 address. `port` is in host order; `bytes` are in network order.
typedef struct {
    uint8_t bytes[16];
    uint32_t scope;
    uint16_t port;
    uint8_t is_v6;
} shim_address;

static inline socklen_t shim_to_sockaddr(const shim_address *from, struct sockaddr_storage *to) {
    if (from->is_v6) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)to;
        memset(six, 0, sizeof *six);
        six->sin6_family = AF_INET6;
        six->sin6_port = htons(from->port);
        six->sin6_scope_id = from->scope;
        memcpy(&six->sin6_addr, from->bytes, 16);
        return sizeof *six;
    }
    struct sockaddr_in *four = (struct sockaddr_in *)to;
    memset(four, 0, sizeof *four);
    four->sin_family = AF_INET;
    four->sin_port = htons(from->port);
    memcpy(&four->sin_addr, from->bytes, 4);
    return sizeof *four;
}

static inline void shim_from_sockaddr(const struct sockaddr_storage *from, shim_address *to) {
    memset(to, 0, sizeof *to);
    if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
        to->is_v6 = 1;
        to->port = ntohs(six->sin6_port);
        to->scope = six->sin6_scope_id;
        memcpy(to->bytes, &six->sin6_addr, 16);
    } else if (from->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)from;
        to->port = ntohs(four->sin_port);
        memcpy(to->bytes, &four->sin_addr, 4);
    }
}

static inline int shim_parse_address(const char *text, shim_address *to) {
    memset(to, 0, sizeof *to);
    if (inet_pton(AF_INET, text, to->bytes) == 1) return 1;
    if (inet_pton(AF_INET6, text, to->bytes) != 1) return 0;
    to->is_v6 = 1;
    return 1;
}

// `to` holds at least INET6_ADDRSTRLEN (46) bytes.
static inline void shim_print_address(const shim_address *from, char *to) {
    if (!inet_ntop(from->is_v6 ? AF_INET6 : AF_INET, from->bytes, to, INET6_ADDRSTRLEN)) to[0] = 0;
}

static inline int shim_udp_socket(int is_v6) {
    int fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return -errno;
    int one = 1;
    if (is_v6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one)) {
        int code = errno;
        close(fd);
        return -code;
    }
    return fd;
}

static inline int shim_set_reuse_port(int fd) {
    int one = 1;
    return setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) ? -errno : 0;
}

static inline int shim_bind(int fd, const shim_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = shim_to_sockaddr(address, &storage);
    return bind(fd, (const struct sockaddr *)&storage, length) ? -errno : 0;
}

static inline int shim_local_address(int fd, shim_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    if (getsockname(fd, (struct sockaddr *)&storage, &length)) return -errno;
    shim_from_sockaddr(&storage, address);
    return 0;
}

static inline ssize_t shim_send(int fd, const void *bytes, size_t count, const shim_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = shim_to_sockaddr(address, &storage);
    ssize_t sent;
    do sent = sendto(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&storage, length);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

static inline ssize_t shim_receive(int fd, void *bytes, size_t capacity, shim_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    ssize_t got;
    do got = recvfrom(fd, bytes, capacity, MSG_DONTWAIT, (struct sockaddr *)&storage, &length);
    while (got < 0 && errno == EINTR);
    if (got < 0) return -errno;
    shim_from_sockaddr(&storage, address);
    return got;
}

static inline int shim_set_receive_buffer(int fd, int bytes) {
    return setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes) ? -errno : 0;
}

static inline int shim_receive_buffer(int fd) {
    int bytes = 0;
    socklen_t length = sizeof bytes;
    return getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length) ? -errno : bytes;
}

// The traffic class byte is the DSCP shifted over the two ECN bits (RFC 2474).
static inline int shim_set_dscp(int fd, int is_v6, int dscp) {
    int value = dscp << 2;
    int failed = is_v6 ? setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &value, sizeof value)
                       : setsockopt(fd, IPPROTO_IP, IP_TOS, &value, sizeof value);
    return failed ? -errno : 0;
}

#ifndef SO_MEMINFO
#define SO_MEMINFO 55
#endif
// Datagrams that the kernel threw away because this socket's buffer was full (index 8 of SO_MEMINFO).
static inline int64_t shim_kernel_drops(int fd) {
    uint32_t info[16] = {0};
    socklen_t length = sizeof info;
    return getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info, &length) ? -errno : (int64_t)info[8];
}

#ifndef SO_ATTACH_REUSEPORT_CBPF
#define SO_ATTACH_REUSEPORT_CBPF 51
#endif
// Datagrams whose first byte is at least `minimum` go to the second socket of the group, all others (empty ones too, for the
// load fails and the program then answers 0) to the first.
static inline int shim_attach_first_byte_filter(int fd, uint8_t minimum) {
    struct sock_filter code[] = {
        {BPF_LD | BPF_B | BPF_ABS, 0, 0, 0},
        {BPF_JMP | BPF_JGE | BPF_K, 0, 1, minimum},
        {BPF_RET | BPF_K, 0, 0, 1},
        {BPF_RET | BPF_K, 0, 0, 0},
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) ? -errno : 0;
}

static inline int shim_epoll(void) {
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static inline int shim_epoll_add(int set, int fd, uint64_t token) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.u64 = token}};
    return epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static inline int shim_epoll_remove(int set, int fd) {
    struct epoll_event event = {0};
    return epoll_ctl(set, EPOLL_CTL_DEL, fd, &event) ? -errno : 0;
}

// Writes up to `capacity` (256 at most) tokens of readable sockets.
static inline int shim_epoll_poll(int set, uint64_t *tokens, int capacity, int timeout_ms) {
    struct epoll_event events[256];
    if (capacity <= 0) return 0;
    if (capacity > 256) capacity = 256;
    int count;
    do count = epoll_wait(set, events, capacity, timeout_ms);
    while (count < 0 && errno == EINTR && timeout_ms == 0);
    if (count < 0) return -errno;
    for (int i = 0; i < count; i++) tokens[i] = events[i].data.u64;
    return count;
}

// Raises the process's soft limit of descriptors towards its hard one. Returns the limit that holds now.
static inline int64_t shim_raise_descriptor_limit(int64_t wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return -errno;
    rlim_t most = limit.rlim_max < (rlim_t)wanted ? limit.rlim_max : (rlim_t)wanted;
    if (limit.rlim_cur >= most) return (int64_t)limit.rlim_cur;
    limit.rlim_cur = most;
    return setrlimit(RLIMIT_NOFILE, &limit) ? -errno : (int64_t)most;
}

static inline void shim_close(int fd) { close(fd); }
static inline const char *shim_error_text(int code) { return strerror(code); }

// Calls `take` with each address of an interface that is up; IPv6 link-local addresses are left out, for they mean nothing
// without their interface.
static inline int shim_each_local_address(void (*take)(const shim_address *address, void *data), void *data) {
    struct ifaddrs *list = 0;
    if (getifaddrs(&list) != 0) return -errno;
    for (struct ifaddrs *item = list; item; item = item->ifa_next) {
        if (!item->ifa_addr || !(item->ifa_flags & IFF_UP)) continue;
        shim_address address;
        memset(&address, 0, sizeof address);
        if (item->ifa_addr->sa_family == AF_INET) {
            memcpy(address.bytes, &((struct sockaddr_in *)item->ifa_addr)->sin_addr, 4);
        } else if (item->ifa_addr->sa_family == AF_INET6) {
            struct in6_addr *six = &((struct sockaddr_in6 *)item->ifa_addr)->sin6_addr;
            if (IN6_IS_ADDR_LINKLOCAL(six)) continue;
            memcpy(address.bytes, six, 16);
            address.is_v6 = 1;
        } else {
            continue;
        }
        take(&address, data);
    }
    freeifaddrs(list);
    return 0;
}
